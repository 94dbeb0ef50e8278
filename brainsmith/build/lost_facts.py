"""Shapes and datatypes that a step lost: they are inferred again, and the build says so.

A tensor without a shape fails somewhere later, and one without a datatype counts as a float, which costs a circuit
its integers without a message.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qonnx.core.modelwrapper import ModelWrapper

_DATATYPE = "finn_datatype"
_SHOWN = 5


class KnownFacts:
    """What was known of a graph before a step.

    Args:
        model: Is not changed.
    """

    def __init__(self, model: ModelWrapper) -> None:
        graph = model.graph
        self._shaped = not _without_shape(graph)
        self._datatypes = _datatypes(graph)
        self._inputs = {value.name for value in graph.input}

    def restore(self, model: ModelWrapper) -> list[str]:
        """Infer what a step lost, and write it into the model.

        Returns:
            What was lost, one line each for shapes and datatypes.
        """
        unshaped = _without_shape(model.graph) if self._shaped else []
        present = _datatypes(model.graph)
        tensors = _tensors(model.graph)
        untyped = [name for name in self._datatypes if name not in present and name in tensors]
        if not unshaped and not untyped:
            return []
        return [*self._shape_lines(model, unshaped), *self._datatype_lines(model, untyped)]

    def _shape_lines(self, model: ModelWrapper, unshaped: list[str]) -> list[str]:
        if not unshaped:
            return []
        from qonnx.transformation.infer_shapes import InferShapes

        inferred = model.transform(InferShapes())
        for name in unshaped:
            shape = inferred.get_tensor_shape(name)
            if shape is not None:
                model.set_tensor_shape(name, shape)
        unknown = _without_shape(model.graph)
        lines = [f"the shapes of {_listed(unshaped)} were lost, and were inferred again"]
        return [f"the shapes of {_listed(unknown)} were lost, and cannot be inferred"] if unknown else lines

    def _datatype_lines(self, model: ModelWrapper, untyped: list[str]) -> list[str]:
        """Set what inference finds; a graph's input keeps what it had, since it follows from nothing."""
        if not untyped:
            return []
        from qonnx.core.datatype import DataType
        from qonnx.transformation.infer_datatypes import InferDataTypes

        inputs = {value.name for value in model.graph.input} & self._inputs
        for name in inputs.intersection(untyped):
            model.set_tensor_datatype(name, DataType[self._datatypes[name]])
        inferred = model.transform(InferDataTypes())
        found = {}
        for name in untyped:
            datatype = inferred.get_tensor_datatype(name)
            if datatype != DataType["FLOAT32"]:
                model.set_tensor_datatype(name, datatype)
                found[name] = datatype.name
        told = [f"'{name}' ({found[name]})" for name in found]
        return [f"the datatypes of {_shortened(told)} were lost, and were inferred again"] if found else []


def _without_shape(graph: Any) -> list[str]:
    """Return the outputs of nodes whose shape is not known."""
    known = {
        value.name for value in (*graph.value_info, *graph.output) if value.type.tensor_type.HasField("shape")
    }
    return [name for node in graph.node for name in node.output if name and name not in known]


def _datatypes(graph: Any) -> dict[str, str]:
    return {
        annotation.tensor_name: entry.value
        for annotation in graph.quantization_annotation
        for entry in annotation.quant_parameter_tensor_names
        if entry.key == _DATATYPE and entry.value != "FLOAT32"
    }


def _tensors(graph: Any) -> set[str]:
    """Return what inference can say something of: inputs of the graph and outputs of its nodes."""
    found = {value.name for value in graph.input}
    found.update(name for node in graph.node for name in node.output)
    return found


def _listed(names: Iterable[str]) -> str:
    return _shortened([f"'{name}'" for name in names])


def _shortened(texts: list[str]) -> str:
    return ", ".join(texts[:_SHOWN]) + (f" and {len(texts) - _SHOWN} more" if len(texts) > _SHOWN else "")
