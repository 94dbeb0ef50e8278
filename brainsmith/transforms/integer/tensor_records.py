"""What the front end found, for a report: of each tensor its integers and their scale; what the host does at the ends."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.transforms.graph_view import attribute
from brainsmith.transforms.integer.integer_tensor import IntegerTensor
from brainsmith.transforms.integer.moved_tensor import MovedTensor
from brainsmith.transforms.lattice.array_kinds import one_of_equal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.transforms.graph_view import GraphView
    from brainsmith.transforms.integer.layer_graph import LayerGraph, LayerNode
    from brainsmith.transforms.lattice.array_kinds import Doubles
    from brainsmith.transforms.lattice.staircases import Staircase

Fields = dict[str, Any]


@dataclass
class Findings:
    """What a report says of a network that became layers of integers.

    Attributes:
        tensors: A record of each tensor of integers, in the order of the layers.
        inputs: A record of each input of the network.
        quantisers: A record of each quantiser that the host computes.
        outputs: A record of each output.
    """

    tensors: list[Fields]
    inputs: list[Fields]
    quantisers: list[Fields]
    outputs: list[Fields]

    def to_plain(self) -> Fields:
        """Return what `report/integers.json` holds."""
        return {
            "inputs": self.inputs, "quantisers": self.quantisers, "tensors": self.tensors, "outputs": self.outputs,
        }  # fmt: skip


def input_record(model: ModelWrapper, name: str) -> Fields:
    """Return what is known of an input: its integers if it has some, else that it is of floats."""
    datatype = model.get_tensor_datatype(name)
    whole = datatype.is_integer()
    ends = {"low": int(datatype.min()), "high": int(datatype.max())} if whole else {"low": None, "high": None}
    return {"name": name, "datatype": datatype.name, **ends}


def quantiser_record(view: GraphView, staircase: Staircase, levels: IntegerTensor) -> Fields:
    """Return what a quantiser that the host computes gives: `round(x / scale) + zero_point` between low and high."""
    node = staircase.node
    found = _scaling(levels)
    return {
        "origin": f"{node.op_type} '{node.name or node.output[0]}'",
        "inputs": _inputs_of(view, node.input[0]),
        "operators": _operators_of(view, node.input[0]),
        "tensor": levels.name,
        **found,
        "low": levels.range.ends[0],
        "high": levels.range.ends[1],
        "rounding_mode": _text(attribute(node, "rounding_mode", "ROUND"))
        if node.op_type == "Quant"
        else None,
    }


def output_record(name: str, value: Any) -> Fields:
    """Return what the host makes an output of; a value that is no tensor of integers is made of floats."""
    value = value.base if isinstance(value, MovedTensor) else value
    if not isinstance(value, IntegerTensor):
        return {
            "name": name,
            "tensor": None,
            "scale": None,
            "offset": None,
            "zero_point": None,
            "operators": [],
        }
    return {
        "name": name,
        "tensor": value.name,
        **_scaling(value),
        "operators": _pending(value),
    }


def tensor_records(graph: LayerGraph, known: Mapping[str, Any]) -> list[Fields]:
    """Return a record of each tensor of integers that a layer, or a quantiser of the host, gives.

    Args:
        graph: The layers.
        known: What the network's tensors became, by name.
    """
    values, stand_for = _placed(graph, known)
    found = []
    for layer in graph.layers:
        for name in layer.node.output:
            tensor = graph.tensors.get(name)
            if tensor is None or tensor.range is None:
                continue
            _move(layer, name, values)
            value = values.get(name)
            if value is not None and tensor.added is not None:
                value = replace(value, offset=value.offset - value.scale * tensor.added)
            found.append(
                {
                    "tensor": name,
                    "operator": layer.node.op_type,
                    "origin": tensor.origin,
                    "network": stand_for.get(name, []),
                    "shape": list(tensor.shape),
                    "datatype": tensor.datatype,
                    "low": tensor.range.ends[0],
                    "high": tensor.range.ends[1],
                    **(_UNKNOWN if value is None else _scaling(value)),
                    "pending": [] if value is None else _pending(value),
                }
            )
    return found


def _placed(
    graph: LayerGraph, known: Mapping[str, Any]
) -> tuple[dict[str, IntegerTensor], dict[str, list[str]]]:
    """Return by tensor of the layers what it is made of, and which tensors of the network it is.

    Of several tensors of the network with the same integers the one counts that has the most pending operators: they
    are evaluated together with the next quantiser.
    """
    values: dict[str, IntegerTensor] = {}
    stand_for: dict[str, list[str]] = {}
    for name, entry in known.items():
        value = entry.base if isinstance(entry, MovedTensor) else entry
        if not isinstance(value, IntegerTensor):
            continue
        place, factor = graph.placed(value.name)
        if not factor.all():
            continue
        if value.order is not None and factor.size > 1:
            factor = factor[np.argsort(value.order)]
        here = replace(value, scale=value.scale / factor)
        if place not in values or len(value.links) > len(values[place].links):
            values[place] = here
        if not value.links and value is entry:
            stand_for.setdefault(place, []).append(name)
    return values, stand_for


def _move(layer: LayerNode, name: str, values: dict[str, IntegerTensor]) -> None:
    """Enter what a layer gives that only moves integers, where it is no tensor of the network itself."""
    given = values.get(layer.node.input[0])
    if given is None or name in values or layer.node.op_type not in _MOVES:
        return
    if layer.node.op_type != "Reshape" or max(given.scale.size, given.offset.size) == 1:
        values[name] = replace(given, links=())


_MOVES = ("Im2Col", "Reshape", "Transpose")
"""Layers that give the integers that they take."""

_WITHIN = {
    **dict.fromkeys(("Conv", "ConvTranspose", "Gemm"), "bias"),
    **dict.fromkeys(("AveragePool", "GlobalAveragePool"), "division"),
}
"""What is pending of operators whose sums are layers."""


def _pending(tensor: IntegerTensor) -> list[str]:
    """Return what is evaluated together with the next quantiser, or left to the host."""
    return [_WITHIN.get(link.node.op_type, link.node.op_type) for link in tensor.links]


_UNKNOWN: Fields = {"scale": None, "offset": None, "zero_point": None}


def _scaling(tensor: IntegerTensor) -> Fields:
    """Return scale and offset, `scale * n + offset`, and the zero point, `scale * (n - zero_point)`, if it is whole."""
    scale, offset = np.broadcast_arrays(tensor.scale, tensor.offset)
    with np.errstate(all="ignore"):
        zeros = -offset / scale
    zero = zeros.reshape(-1)[0]
    whole = np.isfinite(zeros).all() and (zeros == zero).all() and zero == np.rint(zero)
    return {
        "scale": _plain(tensor.scale),
        "offset": _plain(tensor.offset),
        "zero_point": int(zero) if whole else None,
    }


def _plain(values: Doubles) -> list[float]:
    """Return one number where all are the same, else one for each channel."""
    return [float(value) for value in one_of_equal(values)]


def _inputs_of(view: GraphView, name: str) -> list[str]:
    """Return the network's inputs of which a tensor is computed."""
    producer = view.made_by(name)
    if producer is None:
        return [] if view.constant(name) is not None else [name]
    found = (one for given in producer.input if given for one in _inputs_of(view, given))
    return list(dict.fromkeys(found))


def _operators_of(view: GraphView, name: str) -> list[str]:
    """Return the operators with which the host computes a tensor of the network's inputs, in order."""
    producer = view.made_by(name)
    if producer is None:
        return []
    return [
        *(one for given in producer.input if given for one in _operators_of(view, given)),
        producer.op_type,
    ]


def _text(value: object) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
