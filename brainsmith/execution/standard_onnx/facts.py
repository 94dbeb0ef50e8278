"""What is known of a graph while it is rewritten: shapes, constants, annotations, and which integers tensors hold."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.errors import ModelError
from brainsmith.execution.annotations import levels_without_offset

if TYPE_CHECKING:
    from qonnx.core.modelwrapper import ModelWrapper

Array = np.ndarray[Any, Any]
Span = tuple[int, int]

FLOAT_LIMIT = 1 << 24
"""Whole numbers up to here are exact in float32, and so are their sums in any order."""

DOUBLE_LIMIT = 1 << 53
"""The same of float64."""


@dataclass
class Facts:
    """Facts of one graph.

    Attributes:
        shapes: Of all tensors, as the model states them for one run.
        constants: Tensors that no input changes.
        annotated: Least and greatest integer of each tensor that is annotated with an integer datatype.
        datatypes: These annotations.
        loose: Annotated tensors that hold levels from 0 on and are annotated as what these are behind an offset.
        threshold: The largest distance from a whole number that counts as a float error.
        spans: Least and greatest value of each tensor that is known to hold whole numbers only.
        makers: Operator type of the node that computes a tensor.
        kinds: Name of each tensor's NumPy type, where the model states one.
    """

    shapes: dict[str, tuple[int, ...]]
    constants: dict[str, Array] = field(default_factory=dict)
    annotated: dict[str, Span] = field(default_factory=dict)
    datatypes: dict[str, str] = field(default_factory=dict)
    loose: frozenset[str] = frozenset()
    threshold: float = 0.0
    spans: dict[str, Span] = field(default_factory=dict)
    makers: dict[str, str] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, model: ModelWrapper) -> Facts:
        """Read a model whose shapes are all known."""
        from qonnx.util.basic import get_execution_error_thresh, get_sanitize_quant_tensors

        shapes = {name: tuple(model.get_tensor_shape(name) or ()) for name in model.get_all_tensor_names()}
        facts = cls(shapes)
        facts.makers = {name: node.op_type for node in model.graph.node for name in node.output}
        facts.loose = levels_without_offset(model.graph)
        facts.threshold = get_execution_error_thresh()
        facts.kinds = _kinds(model.graph)
        believed = model.graph.quantization_annotation if get_sanitize_quant_tensors() else ()
        for annotation in believed:
            datatype = model.get_tensor_datatype(annotation.tensor_name)
            if datatype.is_integer():
                low, high = math.ceil(float(datatype.min())), math.floor(float(datatype.max()))
                loose = annotation.tensor_name in facts.loose
                facts.annotated[annotation.tensor_name] = (low, high - low if loose else high)
                facts.datatypes[annotation.tensor_name] = datatype.name
        return facts

    def span(self, name: str) -> Span | None:
        """Return the least and greatest of a tensor's whole numbers; None if it may hold others."""
        if name not in self.spans and name in self.constants:
            found = _span_of(self.constants[name])
            if found is None:
                return None
            self.spans[name] = found
        return self.spans.get(name)

    def note_span(self, name: str, low: float, high: float) -> None:
        """Note that a tensor holds only whole numbers from `low` to `high`."""
        self.spans[name] = (math.floor(low), math.ceil(high))


def _kinds(graph: Any) -> dict[str, str]:
    from onnx import helper

    values = [*graph.input, *graph.value_info, *graph.output]
    stated = {value.name: value.type.tensor_type.elem_type for value in values}
    return {name: helper.tensor_dtype_to_np_dtype(kind).name for name, kind in stated.items() if kind}


def _span_of(array: Array) -> Span | None:
    if array.dtype.kind in "iub" and array.size:
        return int(array.min()), int(array.max())
    if array.dtype.kind != "f" or not array.size or not np.all(np.isfinite(array)):
        return None
    return (int(array.min()), int(array.max())) if np.array_equal(array, np.rint(array)) else None


@dataclass(frozen=True)
class NodeView:
    """One node and what is known of its tensors.

    Attributes:
        kind: Its operator; of FINN's backends, the kernel.
        version: Of the operator set that its domain is imported with.
    """

    node: Any
    facts: Facts
    kind: str
    version: int

    @property
    def inputs(self) -> list[str]:
        """The names of its inputs; an optional one that is left out is empty."""
        return list(self.node.input)

    @property
    def outputs(self) -> list[str]:
        """The names of its outputs."""
        return list(self.node.output)

    def attribute(self, name: str, default: Any = None) -> Any:
        """Return an attribute: a number, a string or a list of these; else the default."""
        from onnx import helper

        for attribute in self.node.attribute:
            if attribute.name == name:
                value = helper.get_attribute_value(attribute)
                return value.decode() if isinstance(value, bytes) else value
        return default

    def needed(self, name: str) -> Any:
        """Return an attribute that the node must have.

        Raises:
            ModelError: It has not.
        """
        value = self.attribute(name)
        if value is None:
            raise self.refused(f"its attribute {name} is missing")
        return value

    def shape(self, name: str) -> tuple[int, ...]:
        """Return a tensor's shape for one run."""
        return self.facts.shapes[name]

    def span(self, name: str) -> Span | None:
        """Return the least and greatest of a tensor's whole numbers; None if it may hold others."""
        return self.facts.span(name)

    def varies(self, at: int) -> bool:
        """Tell whether an input is there and depends on the graph's inputs."""
        return at < len(self.node.input) and bool(self.node.input[at]) and self.constant(at) is None

    def constant(self, at: int) -> Array | None:
        """Return an input that is a constant; None if it is not, or left out."""
        return self.facts.constants.get(self.node.input[at]) if at < len(self.node.input) else None

    def needed_constant(self, at: int, what: str) -> Array:
        """Return an input that must not change.

        Raises:
            ModelError: It does.
        """
        value = self.constant(at)
        if value is None:
            raise self.refused(f"its {what} must be a constant, but is computed")
        return value

    def refused(self, reason: str) -> ModelError:
        """Return the error that says why this node cannot be rewritten."""
        name = self.node.name or (self.outputs[0] if self.outputs else "")
        return ModelError(
            f"node '{name}' ({self.node.op_type}) cannot be written with standard ONNX operators: {reason}"
        )
