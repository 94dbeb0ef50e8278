"""What the host computes around an accelerator, as plain data: the package's `host.json`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from onnx import helper, numpy_helper

from brainsmith.execution.host_parts import host_nodes
from brainsmith.execution.model_signature import signature_of
from brainsmith.rtl.package.bench.host_functions import FORMAT, INEXACT, OPERATORS
from brainsmith.rtl.package.frame_order import stored_type, value_type

if TYPE_CHECKING:
    from collections.abc import Iterable

    from onnx import NodeProto
    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.execution.signature import TensorSpec
    from brainsmith.rtl.stitching.design import Design, DesignStream

Fields = dict[str, Any]


def host_description(design: Design, parent: ModelWrapper | None) -> Fields:
    """Describe what the host computes, for `host.py` of the package and for every other program.

    Args:
        design: The accelerator's.
        parent: The network, with the accelerator as one node; None if that is all of it.

    Raises:
        BuildError: The network does not have one node that stands for the accelerator.
    """
    if parent is None:
        ends = [[_stream(stream, stream.layout.tensor, stream.layout.shape) for stream in streams]
                for streams in (design.inputs, design.outputs)]  # fmt: skip
        names = [
            [{"name": one["tensor"], "tensor": one["tensor"], "shape": one["shape"]} for one in end]
            for end in ends
        ]
        return _content(names, ends, [], [], {}, [])
    parts, signature = host_nodes(parent), signature_of(parent)
    nodes = [*parts.before, *parts.behind]
    constants = {name: value for name in _read(nodes) if (value := parent.get_initializer(name)) is not None}
    streams = [
        [
            _stream(stream, tensor, tuple(parent.get_tensor_shape(tensor) or stream.layout.shape))
            for stream, tensor in zip(streams, tensors, strict=True)
        ]
        for streams, tensors in ((design.inputs, parts.wanted), (design.outputs, parts.given))
    ]
    for one in streams[0]:
        quantiser = _quantiser(parts.before, one["tensor"], constants)
        if quantiser is not None:
            one["quantiser"] = quantiser
    for one in streams[1]:
        one |= _scaling(parts.behind, one["tensor"], constants)
    ends = [[_end(spec) for spec in specs] for specs in (signature.inputs, signature.outputs)]
    before, behind = ([_node(node) for node in each] for each in (parts.before, parts.behind))
    values = {name: _values(value) for name, value in constants.items()}
    return _content(ends, streams, before, behind, values, parts.handed)


def _content(
    ends: list[list[Fields]], streams: list[list[Fields]], before: list[Fields], behind: list[Fields],
    constants: Fields, handed: list[str],
) -> Fields:  # fmt: skip
    used = dict.fromkeys(node["operator"] for node in (*before, *behind))
    return {
        "format": FORMAT,
        "inputs": ends[0],
        "accelerator": {"inputs": streams[0], "outputs": streams[1]},
        "outputs": ends[1],
        "before": before,
        "behind": behind,
        "handed": handed,
        "inexact": [name for name in used if name in INEXACT],
        "not_in_host_py": [name for name in used if name not in OPERATORS],
        "constants": constants,
    }


def _read(nodes: Iterable[NodeProto]) -> list[str]:
    return list(dict.fromkeys(name for node in nodes for name in node.input if name))


def _end(spec: TensorSpec) -> Fields:
    return {"name": spec.name, "tensor": spec.name, "shape": list(spec.shape), "datatype": spec.datatype}


def _stream(stream: DesignStream, tensor: str, shape: tuple[int, ...]) -> Fields:
    layout = stream.layout
    return {
        "stream": stream.name,
        "tensor": tensor,
        "tensor_shape": list(shape),
        "shape": list(layout.shape),
        "datatype": value_type(layout),
        "range": list(layout.span),
        "dtype": stored_type(layout).name,
    }


def _node(node: NodeProto) -> Fields:
    attributes = {each.name: _plain(helper.get_attribute_value(each)) for each in node.attribute}
    return {
        "operator": node.op_type,
        "inputs": list(node.input),
        "outputs": list(node.output),
        "attributes": attributes,
    }


def _plain(value: Any) -> Any:
    """Return an attribute as JSON has it."""
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return value if isinstance(value, (int, float, str)) else _values(numpy_helper.to_array(value))


def _values(array: Any) -> Fields:
    """Return a constant: every float32 is written so that it is read again as the same."""
    return {
        "dtype": array.dtype.name,
        "shape": list(array.shape),
        "values": np.asarray(array).reshape(-1).tolist(),
    }


def _quantiser(nodes: list[NodeProto], tensor: str, constants: Fields) -> Fields | None:
    """Return what quantises an input of the accelerator: levels are `round(x / scale + zero_point)` within limits."""
    makers = {name: node for node in nodes for name in node.output}
    node = makers.get(tensor)
    while node is not None and node.op_type in ("Transpose", "Reshape", "Flatten"):
        node = makers.get(node.input[0])
    if node is None or node.op_type not in ("Quant", "BipolarQuant"):
        return None
    scale, *others = (constants[name] for name in node.input[1:])
    zero = float(others[0].item()) if others else 0.0
    maker = makers.get(node.input[0])
    if maker is not None and maker.op_type == "Add" and maker.input[1] in constants and not zero:
        zero, maker = float(constants[maker.input[1]].item()), makers.get(maker.input[0])
    if maker is not None and maker.op_type == "Div" and maker.input[1] in constants and (scale == 1).all():
        scale = constants[maker.input[1]]
    attributes = _node(node)["attributes"]
    return {
        "scale": scale.reshape(-1).tolist(),
        "zero_point": zero,
        "bits": float(others[1].item()) if others else 1.0,
        **{name: attributes[name] for name in ("signed", "narrow", "rounding_mode") if name in attributes},
    }


def _scaling(nodes: list[NodeProto], tensor: str, constants: Fields) -> Fields:
    """Return the scale and the offset that make the network's values of an output of the accelerator, if it has any."""
    found: Fields = {}
    for node in nodes:
        if (
            node.op_type in ("Transpose", "Reshape", "Flatten", "Gather", "Identity")
            and node.input[0] == tensor
        ):
            tensor = node.output[0]
        kind = {"Mul": "scale", "Add": "offset"}.get(node.op_type)
        if kind and kind not in found and node.input[0] == tensor and node.input[1] in constants:
            if kind == "scale" and "offset" in found:
                break
            found[kind] = constants[node.input[1]].reshape(-1).tolist()
            tensor = node.output[0]
    return found
