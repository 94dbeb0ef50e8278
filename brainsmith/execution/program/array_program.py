"""A model as a list of instructions, and running it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.errors import BrainsmithError, BuildError
from brainsmith.execution.foreign_failures import foreign_call, text_of
from brainsmith.execution.program.blas_threads import one_thread
from brainsmith.execution.program.instruction_table import find
from brainsmith.graph.array_types import Array, Shape

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from brainsmith.execution.program.instruction import Instruction
    from brainsmith.execution.signature import ModelSignature


CHUNK = 512
"""Runs that are computed together at most."""


@dataclass
class Program:
    """A model that is ready to run. Threads may run one together.

    Attributes:
        signature: Of the model.
        instructions: In the order of execution. One may make a tensor anew that another has made: a check that
            rounds it.
        constants: By name: initialisers, and what lowering made of them.
        tensors: Those of the graph that vary, in the order in which they are made; `keep` names of these.
        shapes: Of one run, of those of `tensors` for which the graph declares one.
        chunk: Runs that are computed together: as many as keep the largest tensor's memory bounded.
        files: Digests by path of further files that the model names; None if it depends on something that is in no
            file, so that it must not be kept.
        modules: Where the operators of its model are defined; not part of what is kept of it.
    """

    signature: ModelSignature
    instructions: tuple[Instruction, ...]
    constants: dict[str, Array]
    tensors: tuple[str, ...]
    shapes: dict[str, Shape]
    chunk: int = CHUNK
    files: dict[str, str] | None = field(default_factory=dict)
    modules: frozenset[str] = field(default=frozenset(), compare=False)
    _calls: list[Callable[..., Any] | None] = field(
        default_factory=list, init=False, repr=False, compare=False
    )
    _last_use: dict[str, int] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._calls = [None] * len(self.instructions)
        for at, instruction in enumerate(self.instructions):
            self._last_use.update(dict.fromkeys((*instruction.inputs, *instruction.outputs), at))

    def run(self, inputs: Mapping[str, Array], keep: frozenset[str] | None = frozenset()) -> dict[str, Array]:
        """Compute the outputs of all runs, `chunk` at a time.

        Args:
            inputs: A stack (runs, *shape) for each input.
            keep: Further tensors to return; None returns all of the graph that vary.

        Returns:
            Stacks by name.

        Raises:
            BuildError: An instruction cannot be executed, and the message names its node; or a tensor holds what
                its datatype does not, or has another shape than the graph declares.
        """
        total = len(next(iter(inputs.values()))) if inputs else 1
        with one_thread():
            parts = [
                self._run({name: stack[at : at + self.chunk] for name, stack in inputs.items()}, keep)
                for at in range(0, max(total, 1), self.chunk)
            ]
        if len(parts) == 1:
            return parts[0]
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    def _run(self, inputs: Mapping[str, Array], keep: frozenset[str] | None) -> dict[str, Array]:
        outputs = [spec.name for spec in self.signature.outputs]
        wanted = frozenset(self.tensors if keep is None else keep) | frozenset(outputs)
        values: dict[str, Array] = {
            spec.name: _float_as(spec.dtype, inputs[spec.name]) for spec in self.signature.inputs
        }
        runs = len(next(iter(values.values()))) if values else 1
        wanted |= frozenset(values) if keep is None else frozenset()
        at = 0  # one call around them all, since entering one costs a microsecond
        with foreign_call(lambda error: _error_of(self.instructions[at], error)):
            for at, instruction in enumerate(self.instructions):
                results = self._call(at, instruction, values)
                for name, got in zip(instruction.outputs, results, strict=True):
                    if name:
                        values[name] = got
                        self._require_shape(name, got)
                for name in (*instruction.inputs, *instruction.outputs):
                    if self._last_use[name] == at and name not in wanted:
                        values.pop(name, None)
        for name in outputs:
            if name not in values:
                values[name] = np.stack([self.constants[name]] * runs)
        return {name: stack for name, stack in values.items() if name in wanted}

    def _require_shape(self, name: str, stack: Array) -> None:
        declared = self.shapes.get(name)
        if declared is not None and stack.shape[1:] != declared:
            raise WrongShapeError(name, declared, stack.shape[1:])

    def _call(self, at: int, instruction: Instruction, values: dict[str, Array]) -> tuple[Array, ...]:
        call = self._calls[at]
        if call is None:
            call = self._calls[at] = find(instruction.function, instruction.parameters)
        constants = self.constants
        results = call(
            *(
                (values[name] if name in values else constants[name]) if name else None
                for name in instruction.inputs
            )
        )
        return results if isinstance(results, tuple) else (results,)


class WrongShapeError(BuildError):
    """A tensor has another shape than the graph declares."""

    def __init__(self, tensor: str, declared: Shape, found: Shape) -> None:
        super().__init__(
            f"tensor '{tensor}' is declared with the shape {list(declared)}, but has {list(found)}"
        )


def _error_of(instruction: Instruction, error: Exception) -> Exception:
    """Return what is raised where an instruction raised: a check, which has no node, has said all itself."""
    if isinstance(error, WrongShapeError) or (not instruction.source and isinstance(error, BrainsmithError)):
        return error
    return BuildError(f"{instruction.source} cannot be executed: {text_of(error)}")


def _float_as(dtype: str, stack: Array) -> Array:
    """Return a stack as the input's type if that is a float; whole numbers are checked before they are converted."""
    return np.asarray(stack, dtype) if dtype.startswith("float") else np.asarray(stack)
