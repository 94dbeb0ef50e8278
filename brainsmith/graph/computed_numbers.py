"""Numbers that nodes compute of constants alone, as far as arithmetic on a few values goes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from brainsmith.graph.known_domains import STANDARD

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

_FEW = 64
"""Values of a constant; numbers of bits, scales and zero points of single tensors are among these."""
EXTERNAL = 1
"""Where a constant's data are in another file (`TensorProto.EXTERNAL`)."""


def computed_numbers(nodes: Iterable[Any], constants: Mapping[str, Any]) -> dict[str, Any]:
    """Compute what nodes give whose inputs are a few constant numbers.

    Args:
        nodes: Of a graph, in an order in which they can be computed; what stands in another order is left out.
        constants: Its constants, as tensors by name.

    Returns:
        Arrays of float64 by tensor; of what is no arithmetic nothing.
    """
    import numpy as np

    functions = _functions()
    known: dict[str, Any] = {}
    with np.errstate(all="ignore"):
        for node in nodes:
            function = functions.get(node.op_type) if node.domain in STANDARD else None
            if function is None or len(node.output) != 1 or not node.input:
                continue
            values = [known[name] if name in known else _few(constants.get(name)) for name in node.input]
            if any(value is None for value in values):
                continue
            try:
                known[node.output[0]] = np.asarray(function(*values), np.float64)
            except (
                TypeError,
                ValueError,
            ):  # the number of inputs or their shapes, which are reported elsewhere
                continue
    return known


def _functions() -> dict[str, Callable[..., Any]]:
    import numpy as np

    same = ("Cast", "Flatten", "Identity", "Reshape", "Squeeze", "Unsqueeze")
    return {
        "Abs": np.abs, "Add": np.add, "Ceil": np.ceil, "Div": np.divide, "Exp": np.exp, "Floor": np.floor,
        "Log": np.log, "Mul": np.multiply, "Neg": np.negative, "Pow": np.power, "Round": np.rint, "Sub": np.subtract,
        "Max": lambda *values: np.max(np.broadcast_arrays(*values), axis=0),
        "Min": lambda *values: np.min(np.broadcast_arrays(*values), axis=0),
        **dict.fromkeys(same, lambda value, *_: value.ravel()),
    }  # fmt: skip


def _few(tensor: Any) -> Any:
    """Return a constant's values as float64; None if there is none, they are many, no numbers, or in another file."""
    values = None if tensor is None or math.prod(tensor.dims) > _FEW else values_of(tensor)
    return None if values is None else values.astype("float64")


def values_of(tensor: Any) -> Any:
    """Return a constant's values; None if they are no numbers, or lie in another file."""
    from onnx import numpy_helper

    if tensor.data_location == EXTERNAL:
        return None
    values = numpy_helper.to_array(tensor)
    return values if values.dtype.kind in "biuf" else None
