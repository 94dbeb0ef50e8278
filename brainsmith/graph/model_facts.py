"""What is known of a model's tensors: values, shapes, types, datatypes, and between which whole numbers they lie."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.graph.array_types import Array
from brainsmith.graph.integer_range import IntegerRange, Span, range_of_values
from brainsmith.graph.levels_without_offset import levels_without_offset

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from qonnx.core.modelwrapper import ModelWrapper


_FLOAT = 1
"""The number of float32 among ONNX's types."""


class ModelFacts:
    """The tensors of one model.

    Args:
        model: Its shapes are inferred; not changed.
        constants: Of tensors that no input changes, by name.

    Attributes:
        model: The same.
        constants: A copy, to which what is found to be constant is added.
        ranges: What was proved of tensors that vary: between which whole numbers they lie, all or each of the last axis.
        makers: The operator of the node that computes a tensor.
        unsettled: Tensors that hold levels from 0 on, and are annotated as what these are after an offset.
    """

    def __init__(self, model: ModelWrapper, constants: Mapping[str, Array]) -> None:
        self.model = model
        self.constants = dict(constants)
        self.ranges: dict[str, IntegerRange] = {}
        self._opsets: dict[str, int] = model.get_opset_imports()
        graph = model.graph
        values = {v.name: v for v in (*graph.output, *graph.value_info, *graph.input)}
        self._shapes = {name: _shape(value) for name, value in values.items()}
        self._declared = dict(self._shapes)
        self._kinds = {name: value.type.tensor_type.elem_type for name, value in values.items()}
        self._datatypes: dict[str, Any] = {}
        self._annotated = {a.tensor_name for a in graph.quantization_annotation}
        self.makers = {name: node.op_type for node in graph.node for name in node.output}
        self.unsettled = levels_without_offset(graph)

    def opset(self, domain: str) -> int:
        """Return the version of a domain's operators."""
        from qonnx.util.basic import get_preferred_qonnx_opset

        known = self._opsets.get(domain, self._opsets.get("" if domain == "ai.onnx" else domain))
        return int(known if known is not None else get_preferred_qonnx_opset())

    def shape(self, name: str) -> tuple[int, ...] | None:
        """Return a tensor's shape for one run; None if it is not known."""
        if name in self.constants:
            return tuple(self.constants[name].shape)
        return self._shapes.get(name)

    def declared_shape(self, name: str) -> tuple[int, ...] | None:
        """Return the shape of a tensor as the graph declares it; None if it does not, or leaves a dimension open."""
        shape = self._declared.get(name)
        return None if shape is None or 0 in shape else shape

    def state_shape(self, name: str, shape: tuple[int, ...]) -> None:
        """Enter the shape of a tensor of which the graph does not state it."""
        self._shapes.setdefault(name, shape)

    def state_floats(self, names: Iterable[str]) -> None:
        """Enter tensors as float32, whatever the graph states."""
        self._kinds.update(dict.fromkeys(names, _FLOAT))

    def dtype(self, name: str) -> np.dtype[Any]:
        """Return the NumPy type of a tensor's values: float32 where the graph does not state it."""
        known = self.known_dtype(name)
        return np.dtype(np.float32) if known is None else known

    def known_dtype(self, name: str) -> np.dtype[Any] | None:
        """Return the NumPy type of a tensor's values; None where the graph does not state it."""
        if name in self.constants:
            return np.dtype(self.constants[name].dtype)
        from onnx import helper

        kind = self._kinds.get(name)
        return np.dtype(helper.tensor_dtype_to_np_dtype(kind)) if kind else None

    def datatype(self, name: str) -> Any:
        """Return a tensor's QONNX datatype."""
        if name not in self._datatypes:
            from qonnx.core.datatype import DataType

            known = self.model.get_tensor_datatype(name) if name in self._annotated else None
            self._datatypes[name] = DataType["FLOAT32"] if known is None else known
        return self._datatypes[name]

    def annotated(self, name: str) -> Span | None:
        """Return the least and greatest of a datatype of whole numbers; None of others, or if QONNX ignores them."""
        from qonnx.util.basic import get_sanitize_quant_tensors

        datatype = self.datatype(name)
        if not datatype.is_integer() or not get_sanitize_quant_tensors():
            return None
        return int(datatype.min()), int(datatype.max())

    def range(self, name: str) -> IntegerRange | None:
        """Return the whole numbers between which a tensor's values lie for certain; None if that is not known."""
        if name not in self.ranges and name in self.constants:
            found = range_of_values(self.constants[name])
            if found is None:
                return None
            self.ranges[name] = found
        return self.ranges.get(name)

    def span(self, name: str) -> Span | None:
        """Return the least and the greatest of all values of a tensor; None if they are not known to be whole."""
        found = self.range(name)
        return None if found is None else found.ends


def _shape(value: Any) -> tuple[int, ...] | None:
    kind = value.type.tensor_type
    if not kind.HasField("shape"):
        return None
    return tuple(int(dim.dim_value) for dim in kind.shape.dim)
