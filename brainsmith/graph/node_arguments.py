"""What a node says of its operator: how many tensors it reads and gives, and the sizes and steps of its windows.

ONNX's shape inference divides by the steps, in C++: a stride of 0 ends the process that opens the model.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from brainsmith.figures import plural
from brainsmith.graph.known_domains import STANDARD
from brainsmith.graph.operator_names import CHANNELS_LAST, QONNX, known_as
from brainsmith.graph.well_formed import node_text

if TYPE_CHECKING:
    from collections.abc import Iterator

_AT_LEAST_ONE = frozenset(
    ("blocksize", "dilations", "group", "kernel", "kernel_shape", "kernel_size", "stride", "strides")
)
_QUANTISERS = {"Quant": 4, "IntQuant": 4, "BipolarQuant": 2, "Trunc": 5}
"""How many tensors QONNX's quantisers read."""


def argument_faults(node: Any, opset: int) -> Iterator[str]:
    """Yield what is wrong with a node's operands and windows.

    Args:
        node: Of ONNX or QONNX; those of other domains are not known.
        opset: The version of ONNX's operators.
    """
    if node.domain in STANDARD:
        yield from _count_faults(node, *_counts(node.op_type, opset, node.domain))
    elif known_as(node.domain, node.op_type)[0] in (CHANNELS_LAST, QONNX):
        least = _QUANTISERS.get(node.op_type, 0)
        yield from _count_faults(node, least, 1)
    else:
        return
    for attribute in node.attribute:
        if attribute.name in _AT_LEAST_ONE:
            numbers = [*attribute.ints] or [attribute.i]
            if min(numbers) < 1:
                shown = list(attribute.ints) or attribute.i
                yield f"{node_text(node)} has {attribute.name} = {shown}, and the least is 1"


def _count_faults(node: Any, inputs: int, outputs: int) -> Iterator[str]:
    for what, names, least in (("input", node.input, inputs), ("output", node.output, outputs)):
        if len(names) < least:
            yield f"{node_text(node)} has {plural(len(names), what)}, and {node.op_type} has at least {least}"


@cache
def _counts(op_type: str, opset: int, domain: str) -> tuple[int, int]:
    """Return how many tensors an operator of ONNX reads and gives at least; (0, 0) of an unknown one."""
    from onnx import defs

    try:
        schema = defs.get_schema(op_type, opset, "" if domain == "ai.onnx" else domain)
    except defs.SchemaError:
        return 0, 0
    return schema.min_input, schema.min_output
