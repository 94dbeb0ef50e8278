"""What a model gave for the inputs of verification, kept by content: it is neither lowered nor run again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from brainsmith.execution.kept import kept
from brainsmith.graph.array_types import Array
from brainsmith.store.fingerprint import digest

if TYPE_CHECKING:
    from brainsmith.execution.program.array_program import Program

MOST_BYTES = 1 << 22
"""Of one model, so much is kept at most."""


class Ran(NamedTuple):
    """One run of several samples.

    Attributes:
        results: What it gave, by name.
        seconds: How long it took.
    """

    results: dict[str, Array]
    seconds: float


class KeptResults:
    """The runs of one model.

    Args:
        models: The model, and what its partition names, as bytes.
        portable: What stands for them: they without the names of folders; they themselves if that is None.

    Attributes:
        models: They, until the model is ready to be lowered.
        facts: What is known of the model beside, as plain values; None if nothing is.
    """

    def __init__(self, models: Sequence[bytes], portable: Sequence[bytes] | None = None) -> None:
        self.models: Sequence[bytes] = models
        self._place = kept("results", " ".join(map(digest, portable or models)))
        self.facts: Any = None
        self._runs: dict[str, Any] = {}
        self._bytes = 0
        try:
            facts, runs = self._place.load() or (None, {})
            held = sum(len(data) for stacks, _ in runs.values() for _, _, data in stacks.values())
            self.facts, self._runs, self._bytes = facts, runs, held
        except (ValueError, TypeError, AttributeError):
            pass  # it is damaged, and made again
        self._modules: frozenset[str] | None = None  # None as long as nothing is new

    def find(self, key: str) -> Ran | None:
        """Return a run that is known."""
        try:
            stacks, seconds = self._runs[key]
            results = {
                name: np.frombuffer(data, dtype).reshape(shape).copy()
                for name, (dtype, shape, data) in stacks.items()
            }
            return Ran(results, float(seconds))
        except (KeyError, ValueError, TypeError, AttributeError):
            return None

    def add(self, key: str, ran: Ran, program: Program) -> None:
        """Note a run of the model's program; not of one that depends on further files, or gives too much."""
        new = sum(stack.nbytes for stack in ran.results.values())
        if program.files != {} or self._bytes + new > MOST_BYTES:
            return
        self._bytes += new
        stacks = {
            name: (stack.dtype.str, stack.shape, stack.tobytes()) for name, stack in ran.results.items()
        }
        self._runs[key] = stacks, ran.seconds
        self._modules = program.modules

    def save(self) -> None:
        """Write what is new."""
        if self._modules is not None:
            self._place.save((self.facts, self._runs), self._modules, {"of": "a model in a build"})
            self._modules = None


def key_of(feed: Mapping[str, Array], keep: frozenset[str]) -> str:
    """Return what stands for inputs, and for the further tensors that are wanted."""
    parts = [
        f"{name} {stack.dtype.str} {stack.shape} {digest(stack.tobytes())}" for name, stack in feed.items()
    ]
    return digest("\n".join([*parts, *sorted(keep)]))
