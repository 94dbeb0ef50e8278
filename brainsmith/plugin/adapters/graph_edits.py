"""Edits of an ONNX graph that change every place in which a tensor is named.

A node may read one tensor several times, a nested graph may read tensors from outside, and a tensor may be read by
nodes and be an output of the graph as well: QONNX's own edits miss one or the other.
"""

from __future__ import annotations

from brainsmith import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

    from onnx import GraphProto, NodeProto

_NAMING_KEYS = ("SCALE_TENSOR", "ZERO_POINT_TENSOR")
"""The keys of a quantisation annotation whose values name tensors."""


def rename_tensors(graph: GraphProto, names: Mapping[str, str]) -> None:
    """Rename tensors in place, all at once: two may change names.

    Args:
        graph: The graph; nodes in nested graphs follow.
        names: The new name of each old one; no two are the same, and none is that of a tensor that keeps its own.
    """
    for values in (graph.input, graph.output, graph.value_info, graph.initializer):
        for value in values:
            value.name = names.get(value.name, value.name)
    for note in graph.quantization_annotation:
        note.tensor_name = names.get(note.tensor_name, note.tensor_name)
        for entry in note.quant_parameter_tensor_names:
            if entry.key in _NAMING_KEYS:
                entry.value = names.get(entry.value, entry.value)
    for node in graph.node:
        for tensors in (node.input, node.output):
            for at, name in enumerate(tensors):
                if name in names:
                    tensors[at] = names[name]
        for nested in nested_graphs(node):
            rename_tensors(nested, names)


def bypass_node(graph: GraphProto, node: NodeProto) -> bool:
    """Remove a node whose first output is its first input; what reads the one reads the other then.

    The names of the graph's inputs and outputs stay. An annotation stays where only one of the two tensors has one.

    Returns:
        Whether it was removed. It is not where it is needed: it gives an output of the graph, and what it reads is
        no node's output, or an output of the graph too.
    """
    source, result = node.input[0], node.output[0]
    ends = {value.name for value in graph.output}
    kept, dropped = source, result
    if result in ends:
        if source in ends or not any(source in other.output for other in graph.node):
            return False
        kept, dropped = result, source
    graph.node.remove(node)
    for at in reversed(range(len(graph.value_info))):
        if graph.value_info[at].name == dropped:
            del graph.value_info[at]
    annotated = any(note.tensor_name == kept for note in graph.quantization_annotation)
    given = kept in {value.name for value in graph.input}
    for at in reversed(range(len(graph.quantization_annotation))):
        if graph.quantization_annotation[at].tensor_name == dropped and (annotated or given):
            del graph.quantization_annotation[at]
    rename_tensors(graph, {dropped: kept})
    return True


def nested_graphs(node: NodeProto) -> Iterator[Any]:
    """Yield the graphs in a node's attributes: the bodies of an If, a Loop or a Scan."""
    for attribute in node.attribute:
        if attribute.HasField("g"):
            yield attribute.g
        yield from attribute.graphs


def names_read(node: NodeProto) -> Iterator[str]:
    """Yield each tensor name once per place in a node that reads it, its nested graphs included."""
    yield from (name for name in node.input if name)
    for nested in nested_graphs(node):
        for inner in nested.node:
            yield from names_read(inner)
        yield from (value.name for value in nested.output)


def give_own_quantiser(model: Any, node: NodeProto, is_constant: Callable[[NodeProto, Any], bool]) -> None:
    """Let a node read a copy of the quantiser of constants in front of it, with copies of these, if others read it too.

    Args:
        model: QONNX's.
        node: Of one input.
        is_constant: Tells whether a node is a quantiser of constants.
    """
    graph, name = model.graph, node.input[0]
    quantiser = model.find_producer(name)
    reads = [read for each in graph.node for read in names_read(each)] + [
        value.name for value in graph.output
    ]
    if reads.count(name) < 2 or not is_constant(quantiser, model):
        return
    copy = type(node)()
    copy.CopyFrom(quantiser)
    copy.name = f"{quantiser.name or name}_of_{node.output[0]}"
    for at, given in enumerate(copy.input):
        copy.input[at] = model.make_new_valueinfo_name()
        model.set_initializer(copy.input[at], model.get_initializer(given))
        model.set_tensor_datatype(copy.input[at], model.get_tensor_datatype(given))
    copy.output[0] = model.make_new_valueinfo_name()
    model.set_tensor_shape(copy.output[0], model.get_tensor_shape(name))
    model.set_tensor_datatype(copy.output[0], model.get_tensor_datatype(name))
    node.input[0] = copy.output[0]
    graph.node.insert(list(graph.node).index(node), copy)


def shapes_stated(graph: GraphProto, of_initialisers: bool) -> bool | None:
    """Tell whether the shapes of all tensors of nodes are stated: by the graph, or by an initialiser.

    Args:
        graph: Read once, where QONNX's own way searches all of it for each tensor.
        of_initialisers: The graph states the shapes of the initialisers that nodes read from now on.

    Returns:
        None where the graph states the shape of a tensor several times.
    """
    from onnx import helper  # the hub imports this module without it

    stated = [value.name for values in (graph.input, graph.output, graph.value_info) for value in values]
    known = set(stated)
    if len(known) < len(stated):
        return None
    initialisers = {tensor.name: tensor for tensor in reversed(graph.initializer)}
    used = (name for node in graph.node for name in (*filter(None, node.input), *node.output))
    missing = [name for name in dict.fromkeys(used) if name not in known]
    found = [initialisers[name] for name in missing if name in initialisers]
    if of_initialisers:
        graph.value_info.extend(
            helper.make_tensor_value_info(tensor.name, tensor.data_type, list(tensor.dims))
            for tensor in found
        )
    return len(found) == len(missing)


def forget_unused(graph: GraphProto) -> bool:
    """Remove initializers, shapes and annotations of tensors that nothing reads or makes; tell whether there were any.

    An initializer that is an input of the graph too is no input: where it is unused, it goes in both forms.
    """
    used = {value.name for value in graph.output}
    for node in graph.node:
        used.update(names_read(node))
        used.update(node.output)
    unused = {tensor.name for tensor in graph.initializer} - used
    entries = (
        (graph.input, [value.name not in unused for value in graph.input]),
        (graph.initializer, [tensor.name in used for tensor in graph.initializer]),
        (graph.value_info, [value.name in used for value in graph.value_info]),
        (graph.quantization_annotation, [note.tensor_name in used for note in graph.quantization_annotation]),
    )
    for listed, stays in entries:
        for at in reversed(range(len(stays))):
            if not stays[at]:
                del listed[at]
    return not all(all(stays) for _, stays in entries)
