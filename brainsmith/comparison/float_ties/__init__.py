"""Float ties: where float32's own rounding decides which level a quantiser gives.

With scales that are no powers of two, the sum before a quantiser is rounded, and its last bits depend on the order in
which it is summed. Where such a sum lies almost on a threshold, two right evaluations give two levels. For example,
`9 * 0.1 * 0.5` divided by 0.1 is 4.5, a tie, in real arithmetic; in float32 it is 4.5 or 4.5000005. Here such values
are recognised: by a bound of what rounding can do to each sum, and by nothing else.
"""
