"""What Yosys needs for a core, against the formula of its backend."""

from tests.backends.rtl.bench import PART, resources

FACTOR = 1.25
FEW = 5
SMALL = 20
"""Where both counts of LUTs are fewer, they may differ by FEW; flip-flops, memories and multipliers may not."""


def assert_as_stated(cases, folder, exact=(), part=PART):
    """Assert that what Yosys needs for each case is what its backend states, within a quarter; some counts exactly."""
    assert differences(resources(cases, folder, part), exact) == []


def differences(measured, exact=()):
    """Return what is not as stated, in words.

    Args:
        measured: By layer: what Yosys says of it, and what its backend states.
        exact: Counts that may not differ at all.
    """
    return [
        f"{name}: used {layer.used}, stated {stated}"
        for name, (layer, stated) in measured.items()
        if not as_stated(layer.used, stated)
        or any(getattr(layer.used, kind) != getattr(stated, kind) for kind in exact)
    ]


def as_stated(used, stated):
    """Tell whether all counts are within a quarter of what is stated; few LUTs may be a few others."""
    few = max(used.lut, stated.lut) < SMALL and abs(used.lut - stated.lut) <= FEW
    kinds = ("ff", "bram18", "dsp") if few else ("lut", "ff", "bram18", "dsp")
    return all(within(getattr(used, kind), getattr(stated, kind)) for kind in kinds)


def within(used, stated):
    """Tell whether two counts differ by no more than a quarter of the less."""
    return max(used, stated) <= FACTOR * min(used, stated)
