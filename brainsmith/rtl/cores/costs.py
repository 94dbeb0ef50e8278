"""What parts of a core cost, where the width alone does not say it: formulas that cores' estimates share."""

from __future__ import annotations


def comparator_luts(bits: int) -> int:
    """Return the LUTs that compare two numbers: each takes two bits of both, and few more gather what they say."""
    if bits <= 2:
        return 1
    return 4 if bits <= 4 else -(-bits // 2) + 2 * -(-bits // 16) + 1
