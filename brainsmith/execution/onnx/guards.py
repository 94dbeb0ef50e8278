"""Guards: a tensor that is annotated as integers is rounded in the graph, and checked after each run.

For example, a tensor that is annotated as INT4 and computed by a float Mul may hold 2.9999998. QONNX rounds it to 3
between two nodes, and raises if a value is further from a whole number than a threshold. The graph for ONNX Runtime
gets the same Round, and as further outputs the largest distance from a whole number, the least and the largest value.
After each run `Guard.check` compares them with the threshold, -8 and 7. What the ranges of tensors prove is neither
rounded nor checked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from brainsmith.errors import BuildError
from brainsmith.graph.array_types import Array
from brainsmith.graph.integer_range import within

if TYPE_CHECKING:
    from collections.abc import Mapping

    from brainsmith.execution.onnx.emitter import Emitter
    from brainsmith.graph.model_facts import ModelFacts


@dataclass(frozen=True)
class Guard:
    """The outputs of the graph with which a tensor is checked, and their limits.

    Attributes:
        tensor: Its name.
        datatype: The annotation.
        low: The least value of the datatype.
        high: The largest.
        threshold: The largest distance from a whole number that counts as rounding.
        error: The output with the largest distance from a whole number; empty if all values are proved to be whole.
        least: The output with the least value; empty if the range is not checked.
        most: The output with the largest value; empty if the range is not checked.
    """

    tensor: str
    datatype: str
    low: float
    high: float
    threshold: float
    error: str = ""
    least: str = ""
    most: str = ""

    def names(self) -> list[str]:
        """Return the outputs to ask a session for."""
        return [name for name in (self.error, self.least, self.most) if name]

    def check(self, found: Mapping[str, Array]) -> None:
        """Compare what a run gave for these outputs with the limits.

        Raises:
            BuildError: A value is too far from a whole number, or outside.
        """
        if self.error and not float(found[self.error]) <= self.threshold:
            raise BuildError(
                f"tensor '{self.tensor}' is annotated as {self.datatype}, but holds a value that is "
                f"{found[self.error]:g} from the nearest whole number"
            )
        if not self.least:
            return
        ends = (float(found[self.least]), float(found[self.most]))
        outside = [value for value in ends if not self.low <= value <= self.high]
        if outside:
            worst = max(outside, key=abs)
            raise BuildError(
                f"tensor '{self.tensor}' is annotated as {self.datatype}, but holds {worst:.10g}"
            )


def emit_guard(facts: ModelFacts, emit: Emitter, name: str) -> Guard | None:
    """Add the rounding of a tensor to the graph, and the outputs with which it is checked.

    Source: `sanitize_quant_values` of QONNX, which rounds and compares with the threshold. The check of the range is
        added: a circuit cannot hold a value outside of the datatype.

    Returns:
        The guard; None if everything is proved, or the tensor is not annotated as integers.
    """
    from qonnx.util.basic import get_execution_error_thresh

    ends = facts.annotated(name)
    if ends is None:
        return None
    low, high = ends
    settled = name not in facts.unsettled
    high = high if settled else high - low
    span = facts.span(name)
    whole = span is not None or facts.dtype(name) != np.float32
    if span is not None and low <= span[0] and span[1] <= high:
        return None
    known = facts.range(name) or within(low, high)
    facts.ranges[name] = known.clipped(low, high) if settled else known
    if whole and not settled:
        return None
    error = least = most = ""
    if not whole:
        before = emit.sent_through(name, "Round")
        error = emit.add("ReduceMax", [emit.add("Abs", [emit.add("Sub", [before, name])])], keepdims=0)
    if settled:
        least, most = (emit.add(f"Reduce{kind}", [name], keepdims=0) for kind in ("Min", "Max"))
    return Guard(name, facts.datatype(name).name, low, high, get_execution_error_thresh(), error, least, most)
