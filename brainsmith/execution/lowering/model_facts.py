"""What is known of a model's tensors while it is lowered: values, shapes, datatypes, and proved spans."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.execution.program.functions.checks import annotated

if TYPE_CHECKING:
    from qonnx.core.datatype import BaseDataType
    from qonnx.core.modelwrapper import ModelWrapper

Array = np.ndarray[Any, Any]
Span = tuple[int, int]


class ModelFacts:
    """The tensors of one model.

    Args:
        model: Its shapes are inferred; not changed.
        faithful: See `lower`.

    Attributes:
        model: The same.
        faithful: The same.
        constants: Values of all tensors that no input changes, rounded to their annotations; lowering adds to them.
        spans: What was proved of tensors that vary: they hold whole numbers from low to high.
    """

    def __init__(self, model: ModelWrapper, faithful: bool = False) -> None:
        self.model = model
        self.faithful = faithful
        self.constants: dict[str, Array] = initialisers(model)
        self.spans: dict[str, Span] = {}
        self._opsets: dict[str, int] = model.get_opset_imports()
        graph = model.graph
        values = {v.name: v for v in (*graph.output, *graph.value_info, *graph.input)}
        self._shapes = {name: _shape(value) for name, value in values.items()}
        self._declared = dict(self._shapes)
        self._kinds = {name: value.type.tensor_type.elem_type for name, value in values.items()}
        self._datatypes: dict[str, Any] = {}
        self._annotated = {a.tensor_name for a in graph.quantization_annotation}

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

    def span(self, name: str) -> Span | None:
        """Return the whole numbers between which a tensor's values lie for certain; None if that is not known."""
        if name in self.constants:
            return span_of(self.constants[name])
        return self.spans.get(name)


def span_of(values: Array) -> Span | None:
    """Return the smallest and largest of some whole numbers; None if one is not whole."""
    if values.dtype.kind not in "biuf" or not values.size:
        return None
    if values.dtype.kind == "f" and not (
        np.isfinite(values).all() and np.array_equal(np.rint(values), values)
    ):
        return None
    return int(values.min()), int(values.max())


def initialisers(model: ModelWrapper) -> dict[str, Array]:
    """Read the initialisers, rounded to their datatype annotations once instead of at every use.

    Raises:
        BuildError: One that a node reads is not what it is annotated as.
    """
    from onnx import numpy_helper

    constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    for name in {name for node in model.graph.node for name in node.input} & set(constants):
        constants[name] = _as_annotated(name, constants[name], model.get_tensor_datatype(name))
    return constants


def _as_annotated(name: str, values: Array, datatype: BaseDataType) -> Array:
    from qonnx.util.basic import get_execution_error_thresh

    if not datatype.is_integer():
        return values
    return annotated(
        values,
        tensor=name,
        datatype=datatype.name,
        low=float(datatype.min()),
        high=float(datatype.max()),
        holes="" if datatype.allowed(0) else "bipolar",
        threshold=get_execution_error_thresh(),
        settled=True,
    )


def _shape(value: Any) -> tuple[int, ...] | None:
    kind = value.type.tensor_type
    if not kind.HasField("shape"):
        return None
    return tuple(int(dim.dim_value) for dim in kind.shape.dim)
