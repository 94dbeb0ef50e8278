"""Python models of QONNX and FINN, for tensors of float64: integers beyond 2^24, which float32 does not hold."""

from __future__ import annotations

from functools import wraps
from types import FunctionType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import ModuleType

MODELS = {
    "finn.custom_op.fpgadataflow.duplicatestreams": "DuplicateStreams",
    "finn.custom_op.fpgadataflow.elementwise_binary": "ElementwiseBinaryOperation",
    "finn.custom_op.fpgadataflow.fmpadding": "FMPadding",
    "finn.custom_op.fpgadataflow.globalaccpool": "GlobalAccPool",
    "finn.custom_op.fpgadataflow.labelselect": "LabelSelect",
    "finn.custom_op.fpgadataflow.matrixvectoractivation": "MVAU",
    "finn.custom_op.fpgadataflow.pool": "Pool",
    "finn.custom_op.fpgadataflow.reshape": "Reshape",
    "finn.custom_op.fpgadataflow.thresholding": "Thresholding",
    "finn.custom_op.fpgadataflow.upsampler": "UpsampleNearestNeighbour",
    "finn.custom_op.fpgadataflow.vectorvectoractivation": "VVAU",
    "qonnx.custom_op.general.maxpoolnhwc": "MaxPoolNHWC",
}
"""The classes whose models make float32 of all results, by module."""


def mend_model(module: ModuleType) -> None:
    """Let the model of a module's class compute in float64 where the graph states that an input or output is float64.

    Whatever is float32 in the model's code is float64 then, and the results are of the types that the graph states: of the
    arrays that stand in the context for them. All other nodes are executed as before. A module of another version, without
    the class, stays as it is.
    """
    owner = getattr(module, MODELS[module.__name__], None)
    if owner is None:
        return
    own = owner.execute_node
    names = {**own.__globals__, "np": _Doubles(own.__globals__["np"])}
    if "TensorProto" in names:
        names["TensorProto"] = _DoubleTypes(names["TensorProto"])
    in_doubles = FunctionType(own.__code__, names, own.__name__, own.__defaults__, own.__closure__)

    @wraps(own)
    def execute_node(self: Any, context: dict[str, Any], graph: Any) -> None:
        node = self.onnx_node
        held = {name: context[name] for name in (*node.input, *node.output) if context.get(name) is not None}
        if not any(_is_double(array) for array in held.values()):
            own(self, context, graph)
            return
        given = {name: array.astype("float64") for name, array in held.items() if name in node.input}
        inner = {**context, **given}
        in_doubles(self, inner, graph)
        for name in node.output:
            kind = "float64" if _is_double(held.get(name)) else "float32"
            context[name] = inner[name].astype(kind)

    owner.execute_node = execute_node


def _is_double(array: Any) -> bool:
    return array is not None and array.dtype.name == "float64"


class _Doubles:
    """NumPy, whose float32 is float64."""

    def __init__(self, numpy: Any) -> None:
        self._numpy = numpy
        self.float32 = numpy.float64

    def __getattr__(self, name: str) -> Any:
        return getattr(self._numpy, name)


class _DoubleTypes:
    """ONNX's types, of which FLOAT is DOUBLE."""

    def __init__(self, types: Any) -> None:
        self._types = types
        self.FLOAT = types.DOUBLE

    def __getattr__(self, name: str) -> Any:
        return getattr(self._types, name)
