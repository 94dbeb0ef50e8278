"""Nodes that nothing lowers: their own Python models, or ONNX Runtime; imported when one first runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.execution.program.table import factory
from brainsmith.forks import lock_of

if TYPE_CHECKING:
    from collections.abc import Callable

Array = np.ndarray[Any, Any]


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
                runners.append(
                    _runner(model.tobytes(), dict(zip(constant, arrays[len(varying) :], strict=True)))
                )
            results = runners[0].run(dict(zip(varying, arrays, strict=False)))
        return tuple(results[name] for name in made)

    return run


def _runner(model: bytes, constants: dict[str, Array]) -> Any:
    import onnx
    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.execution.node_runners import make_runner

    wrapped = ModelWrapper(onnx.ModelProto.FromString(model))
    (proto,) = wrapped.graph.node
    if proto.domain.startswith("finn."):
        from brainsmith.plugin.adapters.finn_runtime import prepare_finn

        prepare_finn()
    return make_runner(wrapped, proto, constants)
