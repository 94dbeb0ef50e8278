"""Corrections to FINN: transforms that fail at forks and joins in a graph, and its builder without Vivado."""

from __future__ import annotations

import math
from functools import wraps
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from brainsmith.plugin.adapters.graph_edits import bypass_node
from brainsmith.settings import vivado_folder

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType


def mend_pools(module: ModuleType) -> None:
    """Let FINN skip lowered pools in a graph where a reduction states its axes as an attribute (up to opset 17).

    FINN+ 1.6.1 asks every ReduceMean, also that of a normalisation, for an input that it need not have.
    """
    reductions = ("ReduceMax", "ReduceMean", "ReduceSum")
    _skip_where_any(
        module.InferPoolFromReduce, lambda model, node: node.op_type in reductions and len(node.input) < 2
    )


def mend_flattens(module: ModuleType) -> None:
    """Let FINN keep all Flattens of a graph where the input or output of one has several readers, or a reader joins it.

    FINN+ 1.6.1 takes it from these, too, and gives what was before it to the reader's first input, whichever it was. A
    Flatten that stays between layers is refused by name. A row of one pixel that thresholds read keeps it, and a Reshape
    that a layer other than a product reads stays: without it the layer's shape is another one, and FINN's StreamingSplit
    ends in an AssertionError.
    """
    _skip_where_any(
        module.RemoveCNVtoFCFlatten,
        lambda model, node: (
            node.op_type in ("Flatten", "Reshape")
            and any(
                test(model, node) for test in (_is_forked, _is_joined, _is_row_of_one_pixel, _states_a_shape)
            )
        ),
    )


def _states_a_shape(model: Any, node: Any) -> bool:
    """Tell whether a Reshape's result is read by a layer to which it is no row of factors."""
    readers = [each for each in model.graph.node if node.output[0] in each.input]
    layers = [each.op_type for each in readers if each.domain.startswith("finn.custom_op.fpgadataflow")]
    return node.op_type == "Reshape" and any("MVAU" not in op_type for op_type in layers)


def _is_row_of_one_pixel(model: Any, node: Any) -> bool:
    shape = model.get_tensor_shape(node.input[0]) or []
    readers = [each for each in model.graph.node if node.output[0] in each.input]
    return list(shape[:-1]) == [1, 1, 1] and any(each.op_type == "Thresholding" for each in readers)


def _skip_where_any(transformation: Any, is_wrong: Callable[[Any, Any], bool]) -> None:
    """Let a transformation do nothing to a model with any node that it would treat wrongly."""
    skip_where(transformation, lambda _, model: any(is_wrong(model, node) for node in model.graph.node))


def skip_where(transformation: Any, is_so: Callable[[Any, Any], bool]) -> None:
    """Let a transformation do nothing where something holds of an instance of it and a model."""
    own = transformation.apply

    def apply(self: Any, model: Any) -> Any:
        return (model, False) if is_so(self, model) else own(self, model)

    transformation.apply = apply


def _is_forked(model: Any, node: Any) -> bool:
    """Tell whether a node's result, or that of a Transpose before it, is read in several places."""
    before = model.find_producer(node.input[0])
    names = [node.output[0]]
    if before is not None and before.op_type == "Transpose":
        names.append(node.input[0])
    ends = {value.name for value in model.graph.output}
    readers = [sum(name in each.input for each in model.graph.node) + (name in ends) for name in names]
    return any(count > 1 for count in readers)


def _is_joined(model: Any, node: Any) -> bool:
    """Tell whether a node's result is read beside what another node, or an input, gives."""
    computed = {name for each in model.graph.node for name in each.output}
    computed.update(value.name for value in model.graph.input)
    return any(
        sum(name in computed for name in reader.input) > 1
        for reader in model.graph.node
        if node.output[0] in reader.input
    )


def mend_moves(module: ModuleType) -> None:
    """Let moves past forks take one whose second branch is an output, and moves past joins an input of the graph.

    FINN+ 1.6.1 ends in an AssertionError at the first, and in an AttributeError at the second. An Identity stands
    between while FINN works.
    """
    _parted(module.MoveOpPastFork, _part_outputs)
    _parted(module.MoveIdenticalOpPastJoinOp, _part_inputs)


def mend_windows(module: ModuleType) -> None:
    """Let FINN generate a sliding window whose loops are all of one turn, or none but the innermost of two.

    FINN+ 1.6.1 ends in a "math domain error": it takes the logarithm of 0 for the width of a counter that only windows of
    `dynamic_mode` have.
    """
    module.math = SimpleNamespace(ceil=math.ceil, log2=lambda number: math.log2(max(1, number)))  # type: ignore[attr-defined]


def mend_builder(module: ModuleType) -> None:
    """Let FINN's builder end without Vivado, and keep a checkpoint of each step, also of functions of one name.

    FINN+ 1.6.1 names a step's checkpoint, and its time, after the function: the second lambda overwrote the first one's.
    It notes the version of Vivado, which it may not have used, when a build ends: without one, each build ended in an
    error about a variable, and a step's own failure was lost in it.
    """
    build = module.build_dataflow_cfg
    if hasattr(module, "get_vivado_root"):
        module.get_vivado_root = lambda: vivado_folder() or "not installed"  # type: ignore[attr-defined]

    @wraps(build)
    def build_dataflow_cfg(model_filename: Any, cfg: Any) -> Any:
        given = cfg.steps
        cfg.steps = given and _numbered(given)
        try:
            return build(model_filename, cfg)
        finally:
            cfg.steps = given

    module.build_dataflow_cfg = build_dataflow_cfg  # type: ignore[attr-defined]


def _numbered(steps: list[Any]) -> list[Any]:
    """Return a list of steps in which each function but the first of its name has a number after that."""
    taken = {_name_of(step) for step in steps}
    seen: set[str] = set()
    result = []
    for step in steps:
        name = _name_of(step)
        if name in seen and callable(step):
            number = 2
            while f"{name}_{number}" in taken:
                number += 1
            step = _renamed(step, f"{name}_{number}")
            taken.add(step.__name__)
        seen.add(name)
        result.append(step)
    return result


def _name_of(step: Any) -> str:
    return step if isinstance(step, str) else str(getattr(step, "__name__", step))


def _renamed(step: Callable[[Any, Any], Any], name: str) -> Callable[[Any, Any], Any]:
    @wraps(step)
    def run(model: Any, cfg: Any) -> Any:
        return step(model, cfg)

    run.__name__ = run.__qualname__ = name
    return run


def _parted(transformation: Any, part: Callable[[Any, Any], set[str]]) -> None:
    move = transformation.apply

    def apply(self: Any, model: Any) -> tuple[Any, bool]:
        before = [node.SerializeToString() for node in model.graph.node]
        names = part(self, model)
        moved, modified = move(self, model)
        for node in [
            node for node in moved.graph.node if node.op_type == "Identity" and node.output[0] in names
        ]:
            bypass_node(moved.graph, node)
        # A Concat of one tensor several times is moved past again and again, and nothing changes.
        return moved, modified and before != [node.SerializeToString() for node in moved.graph.node]

    transformation.apply = apply


def _part_outputs(self: Any, model: Any) -> set[str]:
    """Put an Identity before each output of the graph that one node reads as well."""
    ends = {value.name for value in model.graph.output}
    parted = set()
    for node in [node for node in model.graph.node if node.op_type in self.ops_to_move]:
        name = node.output[0]
        if name in ends and len(model.find_consumers(name)) == 1:
            inner = _like(model, name)
            for consumer in model.find_consumers(name):
                consumer.input[:] = [inner if read == name else read for read in consumer.input]
            node.output[0] = inner
            _add_identity(model, inner, name, list(model.graph.node).index(node) + 1)
            parted.add(name)
    return parted


def _part_inputs(self: Any, model: Any) -> set[str]:
    """Put an Identity after each tensor that a join reads and no node makes."""
    parted = set()
    for node in [node for node in model.graph.node if node.op_type in self.join_node_op]:
        for at, name in enumerate(node.input):
            if name and model.find_producer(name) is None:
                node.input[at] = _like(model, name)
                _add_identity(model, name, node.input[at], list(model.graph.node).index(node))
                parted.add(node.input[at])
    return parted


def _like(model: Any, name: str) -> str:
    """Declare a new tensor like another one."""
    new: str = model.make_new_valueinfo_name()
    model.set_tensor_shape(new, model.get_tensor_shape(name))
    model.set_tensor_datatype(new, model.get_tensor_datatype(name))
    return new


def _add_identity(model: Any, source: str, result: str, at: int) -> None:
    from onnx import helper  # a mend may come before onnx is wanted

    model.graph.node.insert(at, helper.make_node("Identity", [source], [result]))
