"""The network that puts numbers in order (`label_select_order.sv`): its stages, and what it needs."""

from __future__ import annotations

from brainsmith.rtl.cores.costs import comparator_luts
from brainsmith.rtl.synthesis.cells import Resources


def order_stages(count: int, first: int) -> list[list[tuple[int, int]]]:
    """Return which places are compared in each stage; the greater number goes to the one named first.

    Args:
        count: Numbers that are put in order.
        first: Of them, those that are asked for.
    """
    rounds = (count - 1).bit_length()
    stages = []
    for turn in range(rounds):
        step = 1 << (rounds - 1 - turn)
        for part in range(1 if first == 1 else turn + 1):
            apart = (1 << (rounds - part)) - step if part else step
            phase = step if part else 0
            stages.append([(at, at + apart) for at in range(count - apart) if at & step == phase])
    return stages


def order_resources(count: int, first: int, bits: int, lane_bits: int) -> Resources:
    """Return what the network needs; what leads to no number that is asked for is not built.

    Args:
        count: Numbers that are put in order.
        first: Of them, those that are asked for.
        bits: Of a value.
        lane_bits: Of its place in the beat, which stands behind it: a constant at first, a bit more after each stage.
    """
    total, needed = Resources(), set(range(first))
    stages = order_stages(count, first)
    for at in range(len(stages) - 1, -1, -1):
        kept = bits + min(at + 1, lane_bits)
        total += Resources(ff=len(needed) * kept)
        earlier = set(needed)
        for pair in stages[at]:
            if used := len(needed.intersection(pair)):
                total += Resources(lut=comparator_luts(bits + min(at, lane_bits)) + used * kept)
                earlier.update(pair)
        needed = earlier
    return total
