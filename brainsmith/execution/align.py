"""Compare models whose inputs and outputs a step has moved, reshaped or replaced by class numbers."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from brainsmith.figures import plural
from brainsmith.graph.array_types import Array, Shape

if TYPE_CHECKING:
    from brainsmith.execution.signature import ModelSignature, TensorSpec

Change = Callable[[Array], Array]


@dataclass(frozen=True)
class Alignment:
    """How to feed a changed model the original's inputs, and to read its outputs as the original's.

    Attributes:
        feed: For each of its inputs: the original's input, and what to do with a stack of it.
        read: For each of the original's outputs: this model's output, and what to do with a stack of it.
        classes: Its only output is the class number (an argmax was added): it is compared with the
            original's.
        notes: What had to be done, for the report.
        reason: Why nothing can be compared; empty if it can.
    """

    feed: dict[str, tuple[str, Change]]
    read: dict[str, tuple[str, Change]]
    classes: bool = False
    notes: tuple[str, ...] = ()
    reason: str = ""

    def fed(self, stacks: Mapping[str, Array]) -> dict[str, Array]:
        """Return the changed model's inputs, from stacks of the original's."""
        return {new: change(stacks[old]) for new, (old, change) in self.feed.items()}

    def read_as(self, results: Mapping[str, Array]) -> dict[str, Array]:
        """Return the original's outputs, from stacks of the changed model's."""
        return {old: change(results[new]) for old, (new, change) in self.read.items()}


Feed = dict[str, tuple[str, Change]]


def align(original: ModelSignature, changed: ModelSignature, name: str = "the original") -> Alignment:
    """Match two models' inputs and outputs by position.

    Args:
        original: The model to compare with.
        changed: The model to feed and to read.
        name: What the first is, for the reason.
    """
    feed, notes, reason = align_inputs(original, changed, name)
    if reason or (reason := _other_count("output", original.outputs, changed.outputs, name)):
        return Alignment({}, {}, reason=reason)
    read: Feed = {}
    batch = _split_batch(original, changed)
    for old, new in zip(original.outputs, changed.outputs, strict=True):
        change, note = _between(new.shape, old.shape, 1, batch)
        if change is None:
            if len(changed.outputs) == 1 and _holds_classes(new.shape, old.shape):
                notes.append(
                    f"output '{new.name}' is a class number, compared with the largest of '{old.name}'"
                )
                of_batch = _same if batch == 1 else _reshaped((batch, *new.shape))
                return Alignment(feed, {old.name: (new.name, of_batch)}, True, tuple(notes))
            reason = f"its output '{new.name}' has shape {new.shape}, and '{old.name}' of {name} {old.shape}"
            return Alignment({}, {}, reason=reason)
        read[old.name] = (new.name, change)
        notes.extend(f"output '{new.name}' {note}" for note in note)
    return Alignment(feed, read, notes=tuple(notes))


def align_inputs(
    original: ModelSignature, changed: ModelSignature, name: str = "the original"
) -> tuple[Feed, list[str], str]:
    """Match two models' inputs by position.

    Returns:
        How to feed the second with the first one's inputs, what has to be done for that, and why it cannot be done:
        empty if it can.
    """
    if reason := _other_count("input", original.inputs, changed.inputs, name):
        return {}, [], reason
    feed: Feed = {}
    batch = _split_batch(original, changed)
    notes = [f"a batch of {batch} is fed as {batch} samples, one after the other"] if batch > 1 else []
    for old, new in zip(original.inputs, changed.inputs, strict=True):
        change, note = _between(old.shape, new.shape, batch, 1)
        if change is None:
            reason = f"its input '{new.name}' has shape {new.shape}, and '{old.name}' of {name} {old.shape}"
            return {}, [], reason
        feed[new.name] = (old.name, change)
        notes.extend(f"input '{new.name}' {note}" for note in note)
    return feed, notes, ""


def _split_batch(original: ModelSignature, changed: ModelSignature) -> int:
    """Return how many of a changed model's runs are one of the original's; 1 but where its batch was made smaller."""
    if len(original.inputs) != len(changed.inputs):
        return 1
    pairs = [(old.shape, new.shape) for old, new in zip(original.inputs, changed.inputs, strict=True)]
    sizes = {divmod(int(np.prod(old)), max(int(np.prod(new)), 1)) for old, new in pairs}
    batch, rest = sizes.pop() if len(sizes) == 1 else (1, 0)
    split = batch > 1 and not rest and all(old and old[0] % batch == 0 for old, _ in pairs)
    return batch if split else 1


def _between(have: Shape, want: Shape, apart: int, together: int) -> tuple[Change | None, list[str]]:
    """Find how stacks of one shape become another's, where so many runs of the first, or of the second, are one."""
    if together > 1 and (not want or want[0] % together):
        return None, []
    one, other = _part(have, apart), _part(want, together)
    change, notes = change_of(one, other)
    if change is None or apart == together == 1:
        return change, notes
    return lambda stack: _reshaped(want)(change(_reshaped(one)(stack))), notes


def _part(shape: Shape, count: int) -> Shape:
    return shape if count == 1 else (shape[0] // count, *shape[1:])


def _reshaped(shape: Shape) -> Change:
    return lambda stack: stack.reshape(-1, *shape)


def _other_count(kind: str, first: tuple[TensorSpec, ...], second: tuple[TensorSpec, ...], name: str) -> str:
    return "" if len(first) == len(second) else f"it has {plural(len(second), kind)}, and {name} {len(first)}"


def _holds_classes(now: Shape, shape: Shape) -> bool:
    """Tell whether an output may hold one class number for each sample, of one or of a whole batch."""
    numbers, values = int(np.prod(now)), int(np.prod(shape))
    return numbers < values and numbers in (1, shape[0])


def _same(stack: Array) -> Array:
    return stack


def change_of(have: Shape, want: Shape) -> tuple[Change | None, list[str]]:
    """Find how stacks of one tensor shape become another's: as they are, without ones, or another layout."""
    if have == want:
        return _same, []
    if [dim for dim in have if dim != 1] == [dim for dim in want if dim != 1] or 1 in (len(have), len(want)):
        if int(np.prod(have)) == int(np.prod(want)):
            return lambda stack: stack.reshape(len(stack), *want), [f"reshaped from {have} to {want}"]
        return None, []
    # NCHW becomes NHWC where a step absorbs a transpose into the graph's input or output.
    layouts = [(0, 2, 3, 1), (0, 3, 1, 2)] if len(have) == 4 else []
    for order in layouts:
        if tuple(have[at] for at in order) == want:
            return _transpose(order), [f"transposed from {have} to {want}"]
    orders = [o for o in itertools.permutations(range(len(have))) if tuple(have[at] for at in o) == want]
    if len(orders) == 1:
        return _transpose(orders[0]), [f"transposed from {have} to {want}"]
    return None, []


def _transpose(order: Shape) -> Change:
    axes = (0, *(at + 1 for at in order))
    return lambda stack: stack.transpose(axes)
