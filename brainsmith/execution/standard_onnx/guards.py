"""Holding tensors to their datatype annotations: in the graph, and when its guards come out of a session."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.errors import BuildError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from brainsmith.execution.standard_onnx.emitter import Emitter
    from brainsmith.graph.model_facts import ModelFacts

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Guard:
    """What is watched of a tensor that is annotated as whole and not proved to be what the annotation says.

    Attributes:
        tensor: Its name.
        datatype: The annotation.
        low: The least value of the datatype.
        high: The largest.
        threshold: The largest distance from a whole number that counts as a float error.
        error: The output that says how far it was from whole numbers; empty if it is proved to be whole.
        least: The output that says its least value; empty if values outside are not refused.
        most: The maximum, likewise.
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
        """Refuse a tensor that is not what it is annotated as.

        Raises:
            BuildError: A value is too far from a whole number, or outside.
        """
        if self.error and not float(found[self.error]) <= self.threshold:
            raise BuildError(
                f"tensor '{self.tensor}' is annotated as {self.datatype}, but holds values {found[self.error]:g} away"
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
    """Round a tensor to its annotation as QONNX does between nodes, and watch what is not proved of it.

    Source: `sanitize_quant_values` of QONNX: float errors of integer tensors are removed, larger ones raise. It lets
        whole numbers pass that the datatype does not hold, which a circuit would not.

    Returns:
        What is to be checked in every run; None if all is proved, or the tensor is not annotated as whole.
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
    known = span or (low, high)
    facts.spans[name] = (max(known[0], low), min(known[1], high)) if settled else known
    if whole and not settled:
        return None
    error = least = most = ""
    if not whole:
        before = emit.sent_through(name, "Round")
        error = emit.add("ReduceMax", [emit.add("Abs", [emit.add("Sub", [before, name])])], keepdims=0)
    if settled:
        least, most = (emit.add(f"Reduce{kind}", [name], keepdims=0) for kind in ("Min", "Max"))
    return Guard(name, facts.datatype(name).name, low, high, get_execution_error_thresh(), error, least, most)
