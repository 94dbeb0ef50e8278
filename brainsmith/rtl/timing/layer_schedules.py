"""The schedule of any layer: what its backend states, what is known of FINN's, or else the slowest that it may be."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from brainsmith.rtl.cores.frame_cycles import frame_cycles
from brainsmith.rtl.timing.beat_schedule import one_after_the_other
from brainsmith.rtl.timing.finn_schedules import FINN_SCHEDULES, Fabric

if TYPE_CHECKING:
    from collections.abc import Sequence

    from brainsmith.rtl.timing.beat_schedule import BeatSchedule


def schedule_of(layer: Any, fed: Sequence[int], fabric: Fabric) -> BeatSchedule:
    """Return when a layer takes and gives the beats of a frame.

    Args:
        layer: QONNX's instance of a node that has a backend.
        fed: Which of its inputs are streams.
        fabric: What it is made of.

    Returns:
        What its backend states (`beat_schedule()`), or what is known of FINN's RTL; else that it takes all of a frame and
        then gives all of it, in its estimated cycles (`stated` is false).
    """
    found = _known(layer, fabric)
    if found is not None and len(found.taken) == len(fed):
        return found
    taken = [_beats(layer.get_folded_input_shape(at)) for at in fed]
    given = [_beats(layer.get_folded_output_shape(at)) for at in range(len(layer.onnx_node.output))]
    return one_after_the_other(taken, given, frame_cycles(layer))


def _known(layer: Any, fabric: Fabric) -> BeatSchedule | None:
    """Return the schedule that is stated or known; None if there is none."""
    if hasattr(layer, "beat_schedule"):
        stated: BeatSchedule = layer.beat_schedule()
        return stated
    known = FINN_SCHEDULES.get(layer.onnx_node.op_type)
    return None if known is None or _is_dynamic(layer) else known(layer, fabric)


def _is_dynamic(layer: Any) -> bool:
    return "dynamic_mode" in layer.get_nodeattr_types() and bool(layer.get_nodeattr("dynamic_mode"))


def _beats(shape: Any) -> int:
    return prod(map(int, shape[:-1]))
