"""What a lowering sees of a node, and how it emits instructions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.execution.program.instruction import Instruction
from brainsmith.execution.program.table import name_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from brainsmith.execution.lowering.model_facts import ModelFacts

Array = np.ndarray[Any, Any]
Shape = tuple[int, ...]
Span = tuple[int, int]


class NotLowered(Exception):  # noqa: N818 - a signal, no failure
    """A node is left to the `foreign` instruction; the message says why."""


class LeftToReference(NotLowered):
    """The node has a lowering, whose bits are not the reference's; what that proved holds of both."""


class NodeView:
    """One node.

    Attributes:
        name: Of the node.
        op_type: Its operator.
        domain: Of the operator.
        opset: Version of the domain that the model imports.
        attributes: By name: int, float, str, tuples of these, or an array.
        inputs: Names, "" for one that is left out.
        outputs: Names, "" for one that nobody wants.
        instructions: What was emitted, in order.
        constants: What was held, by name.
        proved: Spans by name.
        bipolar: Tensors that hold -1 and 1 alone.
        constant_outputs: Outputs that do not depend on any value; nothing is emitted then.
    """

    def __init__(self, node: Any, facts: ModelFacts) -> None:
        self.name: str = node.name
        self.op_type: str = node.op_type
        self.domain: str = node.domain
        self.opset = facts.opset(node.domain)
        self.attributes: dict[str, Any] = {a.name: _plain(a) for a in node.attribute}
        self.inputs: tuple[str, ...] = tuple(node.input)
        self.outputs: tuple[str, ...] = tuple(node.output)
        self.instructions: list[Instruction] = []
        self.constants: dict[str, Array] = {}
        self.proved: dict[str, Span] = {}
        self.bipolar: set[str] = set()
        self.constant_outputs: dict[str, Array] = {}
        self._own_name = next(filter(None, self.outputs), f"{self.name}#")  # a tensor has one maker
        self._facts = facts
        self._node = node

    def constant(self, index: int) -> Array | None:
        """Return the value of an input; None if it varies, or is left out or beyond the last."""
        if index >= len(self.inputs) or not self.inputs[index]:
            return None
        return self._facts.constants.get(self.inputs[index])

    def given(self, index: int) -> bool:
        """Tell whether there is an input at a place: a constant, or one that varies."""
        return index < len(self.inputs) and bool(self.inputs[index])

    def varies(self, name: str) -> bool:
        """Tell whether a tensor depends on the model's inputs: it is a stack then."""
        return bool(name) and name not in self._facts.constants and name not in self.constants

    def needed_constant(self, index: int, what: str) -> Array:
        """Return the value of an input that must be a constant.

        Raises:
            NotLowered: It is not a constant.
        """
        value = self.constant(index)
        if value is None:
            raise NotLowered(f"its {what} is no constant")
        return value

    def shape(self, name: str) -> Shape:
        """Return the shape of a tensor for one run.

        Raises:
            NotLowered: It is not known.
        """
        if name in self.constants:
            return tuple(self.constants[name].shape)
        shape = self._facts.shape(name)
        if shape is None:
            raise NotLowered(f"the shape of '{name}' is not known")
        return shape

    def dtype(self, name: str) -> np.dtype[Any]:
        """Return the NumPy type of a tensor's values."""
        return self.constants[name].dtype if name in self.constants else self._facts.dtype(name)

    def rounds_differently(self) -> None:
        """Say that what is emitted may differ from the reference in its last bits, whatever the inputs hold.

        Raises:
            NotLowered: The program is to give the reference's own bits, so the node is left to that.
        """
        if self._facts.faithful:
            raise LeftToReference("it rounds differently from the reference")

    def treats_ends_differently(self) -> None:
        """Say that a NaN, an infinity or the sign of a zero may come out other than from the reference.

        What was proved of the outputs before stays.

        Raises:
            NotLowered: The program is to give the reference's own bits, so the node is left to that.
        """
        if self._facts.faithful:
            raise LeftToReference("the reference treats NaN, infinities or signs of zeros in another way")

    def datatype(self, name: str) -> str:
        """Return the name of the QONNX datatype with which a tensor is annotated; FLOAT32 if it is not."""
        return self._facts.datatype(name).name  # type: ignore[no-any-return]

    def span(self, name: str) -> Span | None:
        """Return the (low, high) within which a tensor is proved to hold whole numbers; None if it is not."""
        if name in self.proved:
            return self.proved[name]
        return self._facts.span(name)

    def operation(self) -> Any:
        """Return the custom operation's own object, for what only its class knows; this imports it."""
        from qonnx.custom_op.registry import getCustomOp

        return getCustomOp(self._node, onnx_opset_version=self.opset)

    def maker(self, name: str) -> str:
        """Return the operator whose first output a tensor is; "" if none makes it."""
        nodes = self._facts.model.graph.node
        return next((node.op_type for node in nodes if node.output and node.output[0] == name), "")

    def attribute(self, name: str, default: Any) -> Any:
        """Return an attribute, or its default."""
        return self.attributes.get(name, default)

    def stack(self, index: int, rank: int) -> str:
        """Return the name of an input whose shape has a rank at least, led by ones; constants as they are."""
        name = self.inputs[index]
        if not self.varies(name) or len(self.shape(name)) >= rank:
            return name
        from brainsmith.execution.program.functions import shapes

        shape = self.shape(name)
        return self.emit(shapes.reshape, [name], shape=(1,) * (rank - len(shape)) + shape)

    def hold(self, array: Array) -> str:
        """Make a constant and return its name."""
        name = f"{self._own_name}#{len(self.constants)}"
        self.constants[name] = np.ascontiguousarray(array).reshape(array.shape)
        return name

    def prove(self, name: str, low: float, high: float, bipolar: bool = False) -> None:
        """State that a tensor holds whole numbers from low to high, whatever goes into the model.

        Args:
            name: Of the tensor.
            low: Taken down to a whole number that float32 holds.
            high: Taken up to one.
            bipolar: It holds -1 and 1 alone.
        """
        self.proved[name] = (_float32_below(int(np.floor(low))), -_float32_below(-int(np.ceil(high))))
        if bipolar:
            self.bipolar.add(name)

    def emit(
        self,
        function: Callable[..., Any],
        inputs: Sequence[str],
        outputs: Sequence[str] | None = None,
        /,
        **parameters: Any,
    ) -> str:
        """Append an instruction.

        Args:
            function: Entered in the table of program/table.py.
            inputs: Names of tensors and constants, in the order of its arguments; "" passes None.
            outputs: Names of what it returns; None makes one temporary.
            **parameters: Numbers, strings, None, and tuples of them.

        Returns:
            Name of the first output.
        """
        names = (f"{self._own_name}##{len(self.instructions)}",) if outputs is None else tuple(outputs)
        source = f"node '{self.name}' ({self.op_type})"
        made = Instruction(name_of(function), tuple(inputs), names, parameters, source)
        self.instructions.append(made)
        return names[0]


def _float32_below(value: int) -> int:
    """Return the largest whole number up to another that float32 holds: rounding to float32 stays above it."""
    if abs(value) <= 1 << 24:
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
