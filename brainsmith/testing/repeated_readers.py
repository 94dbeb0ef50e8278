"""Variants of a model in which one tensor has several readers: what transforms that look at one path forget."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx import TensorProto, helper
from qonnx.core.modelwrapper import ModelWrapper

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from onnx import ValueInfoProto

MOST = 4
"""Of the tensors inside a model, so many are read once more, each in a variant of its own."""

_FLOATS = (TensorProto.FLOAT, TensorProto.DOUBLE)


def with_repeated_readers(model: ModelWrapper) -> Iterator[tuple[str, ModelWrapper]]:
    """Yield variants of a model, each with what was done; none for graphs in attributes, which read what is outside.

    - All nodes twice: each input and each constant has two readers.
    - One tensor inside, of floats, read by a `Neg` besides.
    - One tensor inside that is an output of the model besides.
    """
    if any(attribute.HasField("g") for node in model.graph.node for attribute in node.attribute):
        return
    yield "its nodes twice, reading the same inputs and constants", _copied(model)
    for value in _inside(model)[:MOST]:
        if value.type.tensor_type.elem_type in _FLOATS:
            yield f"tensor {value.name!r} read by another node", _tapped(model, value)
        yield f"tensor {value.name!r} an output of the model", _shown(model, value)


def _copy_of(model: ModelWrapper) -> ModelWrapper:
    return ModelWrapper(model.model, make_deepcopy=True)


def _inside(model: ModelWrapper) -> list[ValueInfoProto]:
    """Return the tensors between two nodes whose types are known, in the order of the nodes."""
    known = {value.name: value for value in model.graph.value_info}
    read = {name for node in model.graph.node for name in node.input}
    outputs = {value.name for value in model.graph.output}
    made = [name for node in model.graph.node for name in node.output]
    return [known[name] for name in made if name in known and name in read and name not in outputs]


def _copied(model: ModelWrapper) -> ModelWrapper:
    both = _copy_of(model)
    new = {name: f"copy_{name}" for node in model.graph.node for name in node.output if name}
    for node in model.graph.node:
        copy = both.graph.node.add()
        copy.CopyFrom(node)
        copy.name = node.name and f"copy_{node.name}"
        copy.input[:] = [new.get(name, name) for name in node.input]
        copy.output[:] = [new.get(name, name) for name in node.output]
    _declare_again(both.graph.value_info, new)
    _declare_again(both.graph.output, new)
    for note in list(both.graph.quantization_annotation):
        if note.tensor_name in new:
            both.set_tensor_datatype(new[note.tensor_name], model.get_tensor_datatype(note.tensor_name))
    return both


def _declare_again(values: list[ValueInfoProto], new: Mapping[str, str]) -> None:
    for value in [value for value in values if value.name in new]:
        again = type(value)()
        again.CopyFrom(value)
        again.name = new[value.name]
        values.append(again)


def _tapped(model: ModelWrapper, value: ValueInfoProto) -> ModelWrapper:
    tapped, name = _copy_of(model), f"read_again_{value.name}"
    tapped.graph.node.append(helper.make_node("Neg", [value.name], [name], name=f"reader_of_{value.name}"))
    output = tapped.graph.output.add()
    output.CopyFrom(value)
    output.name = name
    return tapped


def _shown(model: ModelWrapper, value: ValueInfoProto) -> ModelWrapper:
    shown = _copy_of(model)
    shown.graph.output.add().CopyFrom(value)
    kept = [one for one in shown.graph.value_info if one.name != value.name]
    del shown.graph.value_info[:]
    shown.graph.value_info.extend(kept)
    return shown
