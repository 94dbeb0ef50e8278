"""Hold tensors to their datatype annotations."""

from __future__ import annotations

import numpy as np

from brainsmith.errors import BuildError
from brainsmith.execution.program.instruction_table import instruction
from brainsmith.graph.array_types import Array


@instruction
def annotated(
    values: Array,
    *,
    tensor: str,
    datatype: str,
    low: float,
    high: float,
    holes: str,
    threshold: float,
    settled: bool,
) -> Array:
    """Round a tensor to its datatype annotation, as QONNX does between nodes, and refuse what is outside of it.

    Source: `sanitize_quant_values` of QONNX: float errors of integer tensors are removed, larger ones raise. It lets
        whole numbers pass that the datatype does not hold, which a circuit would not.

    Args:
        values: A stack.
        tensor: Its name.
        datatype: The annotation.
        low: The least value of the datatype.
        high: The largest.
        holes: "bipolar" if it lacks 0.
        threshold: The largest distance from a whole number that counts as a float error.
        settled: The annotation says already what the tensor holds, so values outside are refused.

    Raises:
        BuildError: A value is too far from a whole number, or outside.
    """
    rounded = np.rint(values)
    whole = np.array_equal(rounded, values)
    if not whole:
        with np.errstate(invalid="ignore"):  # infinity is refused below
            error = float(np.abs(values - rounded).max())
        if error > threshold:
            raise BuildError(
                f"tensor '{tensor}' is annotated as {datatype}, but holds a value that is {error:g} from the nearest "
                "whole number"
            )
    if values.size and settled and not _inside(rounded, low, high, holes):
        outside = rounded[~_allowed(rounded, low, high, holes)]
        worst = float(outside.flat[np.abs(outside).argmax()])
        raise BuildError(f"tensor '{tensor}' is annotated as {datatype}, but holds {worst:.10g}")
    return values if whole else rounded


def _inside(values: Array, low: float, high: float, holes: str) -> bool:
    if not (values.min() >= low and values.max() <= high):
        return False
    return holes != "bipolar" or bool(np.all(values))


def _allowed(values: Array, low: float, high: float, holes: str) -> Array:
    inside = (values >= low) & (values <= high)
    return inside & (values != 0) if holes == "bipolar" else inside
