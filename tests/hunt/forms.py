"""The same network as exporters may write it: other names, shared and repeated constants, nodes that do nothing.

What is computed stays. A network is judged against itself as it was before.
"""

from __future__ import annotations

import numpy as np
from onnx import ModelProto, NodeProto, helper

SPECIAL = ("/layer.0/a b:0", "Mul_0_out0", "global_out", "nöd", "x'\"<y>")
"""Names that exporters write, and some that FINN's and QONNX's own renaming gives."""


def as_others_write(model: ModelProto, rng: np.random.Generator) -> tuple[ModelProto, list[str]]:
    """Return a copy of a model in another form, and what was done, in words."""
    made = ModelProto()
    made.CopyFrom(model)
    done = [name for name, change in _FORMS.items() if rng.random() < 0.25 and change(made.graph, rng)]
    return made, done


def _share_constants(graph: object, _rng: np.random.Generator) -> bool:
    """Let all that read equal constants read one."""
    first: dict[tuple[object, ...], str] = {}
    same: dict[str, str] = {}
    for tensor in graph.initializer:
        key = (tensor.data_type, tuple(tensor.dims), tensor.raw_data)
        same[tensor.name] = first.setdefault(key, tensor.name)
    for node in graph.node:
        node.input[:] = [same.get(name, name) for name in node.input]
    kept = [tensor for tensor in graph.initializer if same[tensor.name] == tensor.name]
    changed = len(kept) < len(graph.initializer)
    del graph.initializer[:]
    graph.initializer.extend(kept)
    return changed


def _list_constants_as_inputs(graph: object, rng: np.random.Generator) -> bool:
    chosen = [tensor for tensor in graph.initializer if rng.random() < 0.3]
    values = [helper.make_tensor_value_info(each.name, each.data_type, each.dims) for each in chosen]
    graph.input.extend(values)
    return bool(chosen)


def _make_constants_nodes(graph: object, rng: np.random.Generator) -> bool:
    listed = {value.name for value in graph.input}
    chosen = [each for each in graph.initializer if each.name not in listed and rng.random() < 0.3]
    kept = [each for each in graph.initializer if each not in chosen]
    nodes = [
        helper.make_node("Constant", [], [each.name], name=f"k_{each.name}", value=each) for each in chosen
    ]
    _set_nodes(graph, [*nodes, *graph.node])
    del graph.initializer[:]
    graph.initializer.extend(kept)
    return bool(chosen)


def _insert_identities(graph: object, rng: np.random.Generator) -> bool:
    """Put an Identity behind some inner tensors, for all that read them."""
    outputs = {value.name for value in graph.output}
    nodes: list[NodeProto] = []
    renamed: dict[str, str] = {}
    for node in graph.node:
        node.input[:] = [renamed.get(name, name) for name in node.input]
        nodes.append(node)
        for name in node.output:
            if name not in outputs and rng.random() < 0.2:
                renamed[name] = f"{name}_again"
                floats = (
                    node.op_type != "Constant"
                )  # a Dropout of whole numbers, such as shapes, is no valid ONNX
                kind = "Dropout" if rng.random() >= 0.7 and floats else "Identity"
                nodes.append(helper.make_node(kind, [name], [renamed[name]], name=f"{kind}_{name}"))
    _set_nodes(graph, nodes)
    return bool(renamed)


def _add_dead_ends(graph: object, rng: np.random.Generator) -> bool:
    """Add a node that nothing reads; some have no layer, which need none."""
    at = int(rng.integers(len(graph.node)))
    (name, *_) = graph.node[at].output
    kind = "Hardmax" if at % 2 and graph.node[at].op_type in ("Conv", "MatMul", "Quant", "Relu") else "Relu"
    _set_nodes(graph, [*graph.node, helper.make_node(kind, [name], ["dead_end"], name="dead")])
    return True


def _name_strangely(graph: object, rng: np.random.Generator) -> bool:
    """Give some inner tensors names of `SPECIAL`, and all nodes one name, or none."""
    ends = {value.name for value in (*graph.input, *graph.output)}
    inner = [name for node in graph.node for name in node.output if name and name not in ends]
    chosen = rng.permutation(inner)[: len(SPECIAL)] if inner else []
    names = {str(old): new for old, new in zip(chosen, SPECIAL, strict=False)}
    common = "" if rng.random() < 0.3 else "node"
    for node in graph.node:
        node.input[:] = [names.get(name, name) for name in node.input]
        node.output[:] = [names.get(name, name) for name in node.output]
        node.name = common
    return True


def _declare_again(graph: object, _rng: np.random.Generator) -> bool:
    """Declare inputs and outputs among the inner tensors, too."""
    graph.value_info.extend([*graph.input, *graph.output])
    return True


def _set_nodes(graph: object, nodes: list[NodeProto]) -> None:
    copies = []
    for node in nodes:
        copy = NodeProto()
        copy.CopyFrom(node)
        copies.append(copy)
    del graph.node[:]
    graph.node.extend(copies)


_FORMS = {
    "shared constants": _share_constants,
    "constants among the inputs": _list_constants_as_inputs,
    "Constant nodes": _make_constants_nodes,
    "Identity": _insert_identities,
    "dead end": _add_dead_ends,
    "strange names": _name_strangely,
    "declared twice": _declare_again,
}
