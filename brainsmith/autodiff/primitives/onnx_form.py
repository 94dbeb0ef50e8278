"""Which standard ONNX node a primitive is, as data: export writes it, and nothing here imports onnx."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from brainsmith.errors import OpError

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class OnnxCall:
    """One call of a primitive, as its ONNX form sees it.

    Attributes:
        attributes: Those of the call, the defaults among them.
        shapes: The shapes of its inputs.
        opset: The version of the ONNX operators for which it is written.
        dtype: The dtype of its first input.
    """

    attributes: Mapping[str, Any]
    shapes: tuple[tuple[int, ...], ...]
    opset: int
    dtype: np.dtype[Any] = field(default_factory=lambda: np.dtype(np.float32))

    @property
    def rank(self) -> int:
        """The number of axes of the first input."""
        return len(self.shapes[0])


@dataclass(frozen=True)
class OnnxNode:
    """The node of one call.

    Attributes:
        op_type: The ONNX operator.
        domain: Its domain; empty for the standard one.
        attributes: Numbers, lists of numbers and strings, by name.
        constants: Arrays that follow the call's own inputs; None for an optional input that is left out.
    """

    op_type: str
    domain: str
    attributes: Mapping[str, Any]
    constants: tuple[Array | None, ...]


@dataclass(frozen=True)
class OnnxForm:
    """How a primitive is written as one ONNX node: its inputs in their order, then constants.

    Attributes:
        op_type: The ONNX operator.
        domain: Its domain; empty for the standard one.
        since: The first opset in which the node means what the primitive computes.
        attributes: Gives the node's attributes for a call.
        constants: Gives the inputs of the node that are attributes of the primitive, for a call.
        converted: By input, what the node has in its place: a function of its value. Such an input is a constant of the
            graph (an initializer).
    """

    op_type: str
    domain: str = ""
    since: int = 1
    attributes: Callable[[OnnxCall], Mapping[str, Any]] = lambda _: {}
    constants: Callable[[OnnxCall], tuple[Array | None, ...]] = lambda _: ()
    converted: Mapping[int, Callable[[Array], Array]] = field(default_factory=dict)

    def node(self, call: OnnxCall) -> OnnxNode:
        """Return the node of a call.

        Raises:
            OpError: The opset is too old for it.
        """
        if call.opset < self.since:
            raise OpError(f"ONNX's {self.op_type} needs opset {self.since} or newer, not {call.opset}")
        return OnnxNode(self.op_type, self.domain, self.attributes(call), self.constants(call))
