"""GiveReadableTensorNames: tensors named after the nodes that make them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qonnx.transformation.base import Transformation

from brainsmith.graph.ends import input_values
from brainsmith.plugin.adapters.graph_edits import nested_graphs, rename_tensors
from brainsmith.plugin.core import transform

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onnx import GraphProto
    from qonnx.core.modelwrapper import ModelWrapper


@transform(
    stage="graph_tidying",
    description="Name each tensor after its node, and the ends of the graph global_in and global_out",
    tags=("clean-up",),
)
class GiveReadableTensorNames(Transformation):
    """Give tensors the names that QONNX gives them, in graphs of any form.

    Inputs are `global_in`, `global_in_1`, ..., outputs `global_out`, `global_out_1`, ... Of the others, the outputs
    of a node are `NODE_out0`, ..., and its initializers `NODE_param0`, ...; one that several nodes read is named
    after the first. A node without a name counts as one with the name of its operator. Where a name is taken, by
    another node's tensor or inside a nested graph, a number follows it.

    In QONNX's own, a node that reads a tensor twice reads one that no longer exists, and a node without a name is an
    AssertionError. Run GiveUniqueNodeNames first, for names that say which node it was.
    """

    def apply(self, model: ModelWrapper) -> tuple[ModelWrapper, bool]:
        """Rename; the flag is always False, since once is enough."""
        graph = model.graph
        taken = set(_nested_names(graph))
        names: dict[str, str] = {}
        for name, wanted in _wanted_names(graph):
            if not name or name in names:
                continue
            new, number = wanted, 0
            while new in taken:
                number += 1
                new = f"{wanted}_{number}"
            taken.add(new)
            names[name] = new
        rename_tensors(graph, {old: new for old, new in names.items() if old != new})
        return model, False


def _wanted_names(graph: GraphProto) -> Iterator[tuple[str, str]]:
    """Yield each tensor of a graph, some several times, with the name that it should have if it is free."""
    constants = {tensor.name for tensor in graph.initializer}
    given = [value.name for value in input_values(graph)]
    made = [value.name for value in graph.output]
    for end, ends in (("global_in", given), ("global_out", made)):
        yield from ((name, f"{end}_{at}" if at else end) for at, name in enumerate(ends))
    for node in graph.node:
        stem = node.name or node.op_type
        yield from ((name, f"{stem}_out{at}") for at, name in enumerate(node.output))
        parameters = [name for name in node.input if name in constants]
        yield from ((name, f"{stem}_param{at}") for at, name in enumerate(parameters))
    for values in (graph.initializer, graph.input, graph.value_info):
        yield from ((value.name, value.name) for value in values)
    yield from ((note.tensor_name, note.tensor_name) for note in graph.quantization_annotation)


def _nested_names(graph: GraphProto) -> Iterator[str]:
    """Yield the names of the tensors that nested graphs define: a tensor outside may not have one of them."""
    for node in graph.node:
        for nested in nested_graphs(node):
            for values in (nested.input, nested.initializer):
                yield from (value.name for value in values)
            yield from (name for inner in nested.node for name in inner.output)
            yield from _nested_names(nested)
