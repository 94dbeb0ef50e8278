"""When Yosys' figures are as a backend states them."""


def close(used, stated):
    """Tell whether a number is within 1.25 of what was stated, both ways, or within 5 where both are small."""
    return (
        abs(used - stated) <= 5 if max(used, stated) < 20 else max(used, stated) <= 1.25 * min(used, stated)
    )
