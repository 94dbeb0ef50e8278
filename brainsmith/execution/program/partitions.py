"""Dataflow partitions: nodes that hold a model in a file of its own, whose instructions take their place."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from brainsmith.errors import BuildError
from brainsmith.execution.program.functions import shapes
from brainsmith.execution.program.instruction import Instruction
from brainsmith.execution.program.instruction_table import name_of
from brainsmith.execution.read_model import read_model
from brainsmith.figures import plural
from brainsmith.store.reads import file_digest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.execution.program.array_program import Program

PARTITIONS = ("StreamingDataflowPartition", "GenericPartition")


def partition_model(node: Any, inner: ModelWrapper | None) -> tuple[ModelWrapper, dict[str, str]]:
    """Return a partition's model: the one that is given in its place, else that of its file; and that file's digest.

    The file is named as the node names it: a relative path is another file in another current folder.
    """
    from qonnx.custom_op.registry import getCustomOp

    if inner is not None:
        return inner, {}
    path = getCustomOp(node).get_nodeattr("model")
    return read_model(path), {path: file_digest(path)}


def inlined(part: Program, node: Any, varying: Sequence[str]) -> list[Instruction]:
    """Return a partition's instructions, with its own names for all tensors.

    Args:
        part: The program of its model.
        node: The partition.
        varying: What goes into it, by position.

    Raises:
        BuildError: Its model has another number of inputs or outputs.
    """
    inputs = [spec.name for spec in part.signature.inputs]
    outputs = [spec.name for spec in part.signature.outputs]
    if len(inputs) != len(varying) or len(outputs) != len(node.output):
        raise BuildError(
            f"its model has {plural(len(inputs), 'input')} and {plural(len(outputs), 'output')}, and "
            f"the node {len(varying)} "
            f"and {len(node.output)}"
        )
    source = described(node)
    pass_on = name_of(shapes.same)
    made = [
        Instruction(pass_on, (outer,), (inner_name(node, name),), source=source)
        for outer, name in zip(varying, inputs, strict=True)
    ]
    for instruction in part.instructions:
        inside = f"{source} cannot be executed: {instruction.source}" if instruction.source else source
        made.append(
            replace(
                instruction,
                inputs=tuple(inner_name(node, name) for name in instruction.inputs),
                outputs=tuple(inner_name(node, name) for name in instruction.outputs),
                source=inside,
            )
        )
    made.extend(
        Instruction(pass_on, (inner_name(node, name),), (outer,), source=source)
        for name, outer in zip(outputs, node.output, strict=True)
    )
    return made


def inner_name(node: Any, name: str) -> str:
    """Return the name that a partition's tensor has in the whole program: nodes may share a name, but no output."""
    return f"{next(filter(None, node.output))}/{name}" if name else ""


def described(node: Any) -> str:
    """Return a node as messages name it."""
    return f"node '{node.name}' ({node.op_type})"
