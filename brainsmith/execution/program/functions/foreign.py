"""Nodes as they are: their own Python models, or ONNX Runtime; imported when one first runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.errors import BuildError
from brainsmith.execution.program.instruction_table import factory
from brainsmith.forks import lock_of
from brainsmith.graph.array_types import Array

if TYPE_CHECKING:
    from collections.abc import Callable


COMPARED_RUNS = 32
"""Of those that a program computes: how many are compared with a Python model."""


@factory
def node(
    *, varying: tuple[str, ...], constant: tuple[str, ...], made: tuple[str, ...]
) -> Callable[..., tuple[Array, ...]]:
    """Prepare a node on its first call.

    Args:
        varying: Names in the node of the tensors that vary.
        constant: Of those that do not.
        made: Of what it makes.

    Returns:
        A function of the node as a model (bytes in uint8), of stacks for `varying`, and of arrays for `constant`.
    """
    lock = lock_of(waits=False)
    runners: list[Any] = []

    def run(model: Array, *arrays: Array) -> tuple[Array, ...]:
        with lock:  # instances of custom operations are not made for several threads
            if not runners:
                runners.append(_runner(model, constant, arrays[len(varying) :]))
            results = runners[0].run(dict(zip(varying, arrays, strict=False)))
        return tuple(results[name] for name in made)

    return run


@factory
def agreement(
    *, varying: tuple[str, ...], constant: tuple[str, ...], made: tuple[str, ...]
) -> Callable[..., tuple[Array, ...]]:
    """Prepare the comparison of what a class emits for its node with its Python model, on the first runs.

    Args:
        varying: Names in the node of the tensors that vary.
        constant: Of those that do not.
        made: Of what it makes.

    Returns:
        A function of the node as a model (bytes in uint8), of stacks for `made` and `varying`, and of arrays for
        `constant`. It returns nothing, and raises a BuildError where a value differs.
    """
    lock = lock_of(waits=False)
    runners: list[Any] = []
    left = COMPARED_RUNS

    def compare(model: Array, *arrays: Array) -> tuple[Array, ...]:
        nonlocal left
        stacks = arrays[: len(made) + len(varying)]
        with lock:
            if left and not runners:
                runners.append(_runner(model, constant, arrays[len(stacks) :]))
            runs = min(left, len(stacks[0]))
            left -= runs
            for at in range(runs):
                right = runners[0].once(
                    {name: stack[at] for name, stack in zip(varying, stacks[len(made) :], strict=True)}
                )
                for name, stack in zip(made, stacks, strict=False):
                    _require_equal(runners[0].node, name, stack[at], right[name])
        return ()

    return compare


def _require_equal(node: Any, tensor: str, found: Array, right: Array) -> None:
    if found.shape == right.shape and np.array_equal(found, right, equal_nan=right.dtype.kind == "f"):
        return
    raise BuildError(
        f"node '{node.name}' ({node.op_type}): its `to_program` and its Python model (`execute_node`, `golden` or "
        f"`forward`) differ: tensor '{tensor}' {_difference(found, right)}\n  correct the one that is wrong; if they "
        "only round differently, call `node.rounds_differently()` in `to_program`: the Python model then verifies"
    )


def _difference(found: Array, right: Array) -> str:
    if found.shape != right.shape:
        return f"has the shape {list(found.shape)} in the program and {list(right.shape)} in Python"
    at = tuple(int(index[0]) for index in np.nonzero(found != right))
    return f"at {list(at)} is {found[at]:.9g} in the program and {right[at]:.9g} in Python"


def _runner(model: Array, constant: tuple[str, ...], values: tuple[Array, ...]) -> Any:
    import onnx
    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.execution.fallback.node_runners import make_runner

    wrapped = ModelWrapper(onnx.ModelProto.FromString(model.tobytes()))
    (proto,) = wrapped.graph.node
    if proto.domain.startswith("finn."):
        from brainsmith.plugin.adapters.finn_runtime import prepare_finn

        prepare_finn()
    return make_runner(wrapped, proto, dict(zip(constant, values, strict=True)))
