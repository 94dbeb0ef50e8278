"""One node of a model, and what is known of its tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.graph.array_types import Array, Shape
from brainsmith.graph.integer_range import FLOAT32_END, IntegerRange, Span, within
from brainsmith.graph.operator_names import known_as
from brainsmith.graph.range_rules import range_of

if TYPE_CHECKING:
    from brainsmith.graph.model_facts import ModelFacts


class Unsupported(Exception):  # noqa: N818 - a signal, no failure
    """A node cannot be put into another form; the message says why, to follow the node's name and a colon."""


class NodeView:
    """One node.

    Attributes:
        node: The node itself.
        name: Of the node.
        op_type: Its operator.
        domain: Of the operator.
        family: The domain as which it is known: of Brevitas' operators QONNX's, of a backend that of its kernel.
        kind: The operator as which it is known: of a hardware backend, its kernel.
        opset: Version of the domain that the model imports.
        attributes: By name: int, float, str, tuples of these, or an array.
        inputs: Names, "" for one that is left out.
        outputs: Names, "" for one that nobody wants.
        facts: Of the model's tensors.
        proved: Between which whole numbers tensors lie, by name, as far as that was found while looking at the node.
        bipolar: Tensors that hold -1 and 1 alone.
    """

    def __init__(self, node: Any, facts: ModelFacts) -> None:
        self.node = node
        self.name: str = node.name
        self.op_type: str = node.op_type
        self.domain: str = node.domain
        self.family, self.kind = known_as(node.domain, node.op_type)
        self.opset = facts.opset(node.domain)
        self.attributes: dict[str, Any] = {a.name: _plain(a) for a in node.attribute}
        self.inputs: tuple[str, ...] = tuple(node.input)
        self.outputs: tuple[str, ...] = tuple(node.output)
        self.facts = facts
        self.proved: dict[str, IntegerRange] = {}
        self.bipolar: set[str] = set()

    def attribute(self, name: str, default: Any = None) -> Any:
        """Return an attribute, or its default."""
        return self.attributes.get(name, default)

    def needed(self, name: str) -> Any:
        """Return an attribute that the node must have.

        Raises:
            Unsupported: It has not.
        """
        if name not in self.attributes:
            raise Unsupported(f"its attribute {name} is missing")
        return self.attributes[name]

    def given(self, index: int) -> bool:
        """Tell whether there is an input at a place: a constant, or one that varies."""
        return index < len(self.inputs) and bool(self.inputs[index])

    def constant(self, index: int) -> Array | None:
        """Return the value of an input; None if it varies, or is left out or beyond the last."""
        return self.facts.constants.get(self.inputs[index]) if self.given(index) else None

    def needed_constant(self, index: int, what: str) -> Array:
        """Return the value of an input that must be a constant.

        Raises:
            Unsupported: It is not a constant.
        """
        value = self.constant(index)
        if value is None:
            raise Unsupported(f"its {what} must be a constant, but is computed")
        return value

    def stated(self, index: int, name: str, default: Any = None) -> Any:
        """Return what older opsets of ONNX state as an attribute, and newer ones as an input.

        Raises:
            Unsupported: The input is not a constant.
        """
        return self.needed_constant(index, name) if self.given(index) else self.attribute(name, default)

    def varies(self, name: str) -> bool:
        """Tell whether a tensor depends on the model's inputs."""
        return bool(name) and name not in self.facts.constants

    def is_computed(self, index: int) -> bool:
        """Tell whether there is an input at a place, and depends on the model's inputs."""
        return self.given(index) and self.varies(self.inputs[index])

    def shape(self, name: str) -> Shape:
        """Return the shape of a tensor for one run.

        Raises:
            Unsupported: It is not known.
        """
        shape = self.facts.shape(name)
        if shape is None:
            raise Unsupported(f"the shape of '{name}' is not known")
        return shape

    def dtype(self, name: str) -> np.dtype[Any]:
        """Return the NumPy type of a tensor's values."""
        return self.facts.dtype(name)

    def is_double(self, name: str) -> bool:
        """Tell whether a tensor's values are float64: of a layer, integers that float32 does not hold."""
        return self.dtype(name) == np.dtype(np.float64)

    def datatype(self, name: str) -> str:
        """Return the name of the QONNX datatype with which a tensor is annotated; FLOAT32 if it is not."""
        return self.facts.datatype(name).name  # type: ignore[no-any-return]

    def span(self, name: str) -> Span | None:
        """Return the (low, high) within which a tensor is proved to hold whole numbers; None if it is not."""
        return self.proved[name].ends if name in self.proved else self.facts.span(name)

    def range(self, name: str, channels: int = 1) -> IntegerRange | None:
        """Return the same for each entry of a last axis with so many, where they are told apart; else for all."""
        found = self.proved[name] if name in self.proved else self.facts.range(name)
        return found if found is None or found.low.size == channels else found.of_all()

    def prove(self, name: str, low: float, high: float, bipolar: bool = False) -> None:
        """State that a tensor holds whole numbers from low to high, whatever goes into the model.

        Args:
            name: Of the tensor.
            low: Taken down to a whole number that float32 holds.
            high: Taken up to one.
            bipolar: It holds -1 and 1 alone.
        """
        self.prove_range(name, within(int(np.floor(low)), int(np.ceil(high))))
        if bipolar:
            self.bipolar.add(name)

    def prove_range(self, name: str, found: IntegerRange) -> None:
        """State between which whole numbers a tensor lies, or each entry of its last axis."""
        if found.magnitude > FLOAT32_END and self.dtype(name) != np.float64:
            low, high = (np.vectorize(_float32_below)(end) for end in (found.low, -found.high))
            found = IntegerRange(low, -high)
        self.proved[name] = found

    def prove_same(self, name: str, other: str) -> None:
        """State of a tensor what is known of another, whose values it holds."""
        if (span := self.span(other)) is not None:
            self.prove(name, *span, bipolar=other in self.bipolar)

    def prove_moved(self, *fills: float) -> None:
        """Prove of all outputs what is known of the first input, whose values they have, and of what fills the rest."""
        found = self.range(self.inputs[0])
        if found is None or not all(float(fill).is_integer() for fill in fills):
            return
        bipolar = found.ends == (-1, 1) and self.datatype(self.inputs[0]) == "BIPOLAR" and not fills
        held = found.holding(*map(int, fills))
        for name in filter(None, self.outputs):
            self.prove(name, *held.ends, bipolar)

    def prove_joined(self, names: tuple[str, ...]) -> None:
        """Prove of the first output what is known of tensors that it joins, if it is known of all."""
        found = range_of("Concat", [self.range(name) for name in names])
        if found is not None:
            bipolar = found.ends == (-1, 1) and all(self.datatype(name) == "BIPOLAR" for name in names)
            self.prove(self.outputs[0], *found.ends, bipolar)


def _float32_below(value: int) -> int:
    """Return the largest whole number up to another that float32 holds: rounding to float32 stays above it."""
    if abs(value) <= FLOAT32_END:
        return value
    near = np.float32(value)
    return int(near) if int(near) <= value else int(np.nextafter(near, np.float32(-np.inf)))


def _plain(attribute: Any) -> Any:
    """Return an attribute's value as plain Python, tensors as arrays; graphs as they are."""
    from onnx import helper, numpy_helper

    value = helper.get_attribute_value(attribute)
    if hasattr(value, "raw_data"):
        return numpy_helper.to_array(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    if isinstance(value, list | tuple) or type(value).__name__.startswith("Repeated"):
        return tuple(v.decode("utf-8", "surrogateescape") if isinstance(v, bytes) else v for v in value)
    return value
