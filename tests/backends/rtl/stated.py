"""What Yosys needs for a core, against the formula of its backend."""

from tests.backends.rtl.bench import resources

FACTOR = 1.25
FEW = 5
"""LUTs that a formula for a small core may be wrong by."""


def assert_as_stated(cases, folder):
    """Assert that LUTs are within a quarter of what each case's backend states, and all else is nearly so."""
    wrong = []
    for name, (layer, stated) in resources(cases, folder).items():
        used = layer.used
        near = abs(used.lut - stated.lut) <= FEW or within(used.lut, stated.lut)
        if not (
            near
            and all(within(getattr(used, kind), getattr(stated, kind)) for kind in ("ff", "bram18", "dsp"))
        ):
            wrong.append(f"{name}: used {used}, stated {stated}")
    assert wrong == []


def within(used, stated):
    """Tell whether two counts differ by no more than a quarter of the less."""
    return max(used, stated) <= FACTOR * min(used, stated)
