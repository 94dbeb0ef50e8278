"""Fold matrix-vector layers so that the beats of neighbours divide each other, where that costs and slows nothing."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

from brainsmith.rtl.cores.parallelism import divisors
from brainsmith.steps.hardware_nodes import is_layer
from brainsmith.steps.stated_parallelism import set_lanes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onnx import NodeProto
    from qonnx.core.modelwrapper import ModelWrapper

LAYERS = ("MVAU_rtl", "MVAU_hls", "BinaryMVAU_rtl", "EmbeddedMVAU_rtl")
"""Layers whose SIMD and PE can be exchanged for each other: their inputs are SIMD values a beat, their outputs PE."""


def prefer_dividing_widths(model: ModelWrapper, cycles: int, part: str, weights: int) -> None:
    """Exchange SIMD and PE of layers whose beats do not divide their neighbours', in place.

    A converter between beats of which one is a multiple of the other is smaller. The other folding has no more
    multipliers and DSPs, and is as fast as the target needs, or as it was.

    Args:
        model: Folded.
        cycles: Of a frame at the target rate.
        part: The FPGA.
        weights: The widest weight stream of one processing element, bits.
    """
    for node in model.graph.node:
        if node.op_type in LAYERS and _uneven(model, node):
            _exchange(model, node, cycles, part, weights)


def _exchange(model: ModelWrapper, node: NodeProto, cycles: int, part: str, weights: int) -> None:
    """Give a layer the folding with the fewest uneven neighbours; of those the one that is nearest to what it has."""
    from qonnx.custom_op.registry import getCustomOp

    layer = getCustomOp(node)
    before = layer.get_nodeattr("SIMD"), layer.get_nodeattr("PE")
    slowest, dsp = max(cycles, layer.get_exp_cycles()), layer.dsp_estimation(part)
    best = (_uneven(model, node), 0, 0, before)
    for simd, pe in _foldings(layer, *before, weights):
        set_lanes(layer, simd, pe)
        if layer.get_exp_cycles() <= slowest and layer.dsp_estimation(part) <= dsp:
            fewer = before[0] * before[1] - simd * pe
            best = min(best, (_uneven(model, node), fewer, abs(simd - before[0]), (simd, pe)))
    set_lanes(layer, *best[-1])


def _foldings(layer: Any, simd: int, pe: int, weights: int) -> Iterator[tuple[int, int]]:
    """Yield SIMD and PE that have no more multipliers; all of a row only where the layer has it already."""
    rows, columns = layer.get_nodeattr("MH"), layer.get_nodeattr("MW")
    most = max(simd, min(weights // layer.get_input_datatype(1).bitwidth(), columns - 1))
    for one, other in product(divisors(columns), divisors(rows)):
        if one * other <= simd * pe and one <= most:
            yield one, other


def _uneven(model: ModelWrapper, node: NodeProto) -> int:
    """Return at how many of its ends a layer has beats of which neither is a multiple of the other."""
    producer, consumer = model.find_producer(node.input[0]), model.find_consumer(node.output[0])
    count = 0
    for first, second in ((producer, node), (node, consumer)):
        if first is not None and second is not None and is_layer(first) and is_layer(second):
            widths = sorted((_given(first, second), _taken(first, second)))
            count += widths[1] % widths[0] != 0
    return count


def _given(first: NodeProto, second: NodeProto) -> int:
    """Return how many values a beat of the first layer has that the second reads."""
    from qonnx.custom_op.registry import getCustomOp

    at = next(at for at, name in enumerate(first.output) if name in second.input)
    return int(getCustomOp(first).get_folded_output_shape(at)[-1])


def _taken(first: NodeProto, second: NodeProto) -> int:
    from qonnx.custom_op.registry import getCustomOp

    at = next(at for at, name in enumerate(second.input) if name in first.output)
    return int(getCustomOp(second).get_folded_input_shape(at)[-1])
