"""Integers beyond 2^24 between hardware layers: their Python models pass them in float64, as their circuits do exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onnx import TensorProto, helper

from brainsmith.graph.integer_range import FLOAT32_END
from brainsmith.rtl.cores.integers import is_wide
from brainsmith.transforms.graph_view import attribute, is_standard

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnx import NodeProto
    from qonnx.core.modelwrapper import ModelWrapper


def without_wide_casts(model: ModelWrapper) -> ModelWrapper:
    """Take out, in place, the Casts around layers of float64, which the step `integer` writes.

    Operators of ONNX need operands of one type; hardware layers do not, so that their inputs and levels stay float32
    tensors. A Cast of floats, or of integers to floats that the host goes on with, stays.
    """
    graph = model.graph
    for node in [each for each in graph.node if _casts_integers(model, each)]:
        source, result = node.input[0], node.output[0]
        maker = model.find_producer(source)
        if attribute(node, "to") == TensorProto.FLOAT and maker is not None:
            maker.output[:] = [result if name == source else name for name in maker.output]
        else:
            for reader in graph.node:
                reader.input[:] = [source if name == result else name for name in reader.input]
        graph.node.remove(node)
        for value in [each for each in graph.value_info if each.name in (source, result)]:
            if not model.find_producer(value.name) and not model.find_consumers(value.name):
                graph.value_info.remove(value)
    return model


def widen_layers(model: ModelWrapper, is_hardware: Callable[[NodeProto], bool]) -> ModelWrapper:
    """Declare, in place, what hardware layers give as float64 where float32 does not hold all of their datatype.

    So their Python models are exact. Thresholds that such integers are compared with are float64 too, and stay so with the
    weights of products that have thresholds inside; a Cast stands in front of an operator of the host, or an output, that
    needs float32.
    """
    import numpy as np

    for node in list(model.graph.node):
        if not is_hardware(node):
            _pass_on(model, node)
            continue
        for name in filter(lambda each: _is_wide(model, each), node.output):
            _round_for_host(model, name, is_hardware)
        for name in node.output:
            wide = _is_wide(model, name)
            value: Any = model.get_tensor_valueinfo(name)
            if value is not None and (wide or value.type.tensor_type.elem_type == TensorProto.DOUBLE):
                value.type.tensor_type.elem_type = TensorProto.DOUBLE if wide else TensorProto.FLOAT
        inside = "accDataType" in {each.name for each in node.attribute} and not attribute(
            node, "noActivation", 0
        )
        compared = "Thresholding" in node.op_type and _is_wide(model, node.input[0])
        for name in node.input:
            held: Any = model.get_initializer(name)
            if held is None or held.dtype not in (np.float32, np.float64):
                continue
            doubles = compared or (held.dtype == np.float64 and (inside or np.abs(held).max() > FLOAT32_END))
            if held.dtype != (kind := np.float64 if doubles else np.float32):
                model.set_initializer(name, held.astype(kind))
    return model


def _pass_on(model: ModelWrapper, node: NodeProto) -> None:
    """Declare integers that the host only moves as what they come in."""
    if any(_is_double(model, name) for name in node.input) and not is_standard(node, "Cast"):
        for value in model.graph.value_info:
            if value.name in node.output and _is_wide(model, value.name):
                value.type.tensor_type.elem_type = TensorProto.DOUBLE


def _round_for_host(model: ModelWrapper, name: str, is_hardware: Callable[[NodeProto], bool]) -> None:
    """Put one Cast to float32 in front of all that needs a wide tensor in that type."""
    from qonnx.core.datatype import DataType

    graph = model.graph
    readers = [
        node for node in graph.node
        if name in node.input and not is_hardware(node) and not is_standard(node, "Cast")
        and not any(_is_double(model, given) or _is_wide(model, given) for given in node.output)
    ]  # fmt: skip
    is_output = any(value.name == name for value in graph.output)
    if not readers and not is_output:
        return
    maker, other = model.find_producer(name), model.make_new_valueinfo_name()
    source, rounded = (other, name) if is_output else (name, other)
    kind = TensorProto.DOUBLE if is_output else TensorProto.FLOAT
    graph.value_info.append(helper.make_tensor_value_info(other, kind, model.get_tensor_shape(name)))
    if is_output:  # which keeps its name
        model.set_tensor_datatype(source, model.get_tensor_datatype(name))
        model.set_tensor_datatype(rounded, DataType["FLOAT32"])
        maker.output[:] = [source if each == name else each for each in maker.output]
    for node in graph.node:
        if name in node.input:
            to = rounded if node in readers else source
            node.input[:] = [to if each == name else each for each in node.input]
    cast = helper.make_node("Cast", [source], [rounded], name=f"{maker.name}_rounded", to=TensorProto.FLOAT)
    graph.node.insert(list(graph.node).index(maker) + 1, cast)


def _casts_integers(model: ModelWrapper, node: NodeProto) -> bool:
    """Tell whether a node is one of the Casts around layers of float64."""
    if not is_standard(node, "Cast"):
        return False
    given, result = (model.get_tensor_datatype(name) for name in (node.input[0], node.output[0]))
    if attribute(node, "to") == TensorProto.DOUBLE:
        return bool(given.is_integer()) and _is_double(model, node.output[0])
    return (
        bool(result.is_integer()) and _is_double(model, node.input[0]) and not _is_wide(model, node.input[0])
    )


def _is_double(model: ModelWrapper, name: str) -> bool:
    value: Any = model.get_tensor_valueinfo(name)
    return value is not None and value.type.tensor_type.elem_type == TensorProto.DOUBLE


def _is_wide(model: ModelWrapper, name: str) -> bool:
    return is_wide(model.get_tensor_datatype(name))
