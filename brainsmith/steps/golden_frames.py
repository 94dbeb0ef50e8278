"""What an accelerator is verified with: the frames that go into it, and what its hardware model computes of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.errors import BuildError
from brainsmith.steps.host_ends import PARTITION, parent_model

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.execution.execute import Executor
    from brainsmith.rtl.stitching.design import Design, Layout

    Stack = np.ndarray[Any, Any]

RANDOM_FRAMES = 32
"""How many random frames there are, where golden inputs are not given."""

LEAST_RANDOM_FRAMES = 4
"""How many there are at least, however long a frame takes: layers keep things from frame to frame."""

RANDOM_CYCLES = 10_000_000
"""How long all random frames may take in one run, about: a frame more shows little of a large design, and each run of it
takes minutes."""

RANDOM_SEED = 0

GENERATED_CYCLES = 1_000_000
"""How long all generated frames may take in one run, about; there is one at least."""

GENERATED_FRAMES = 32
"""How many there are at most."""

_AT_ONCE = 8
"""Frames that the model computes at a time."""


class GoldenFrames:
    """The frames of one build.

    Args:
        model: Of the hardware layers alone.
        design: Stitched of it.
        cfg: Says where golden inputs are (`verify_input_npy`, None for random ones), and where the model is that
            holds this one as a node (`PARENT` in `output_dir`), if there is one: what the host computes before the
            accelerator is computed here too.
        frames: How many of the golden inputs are used, or how many random ones are made; all of the golden ones, or 32
            random ones, fewer where that many take longer than `RANDOM_CYCLES`.
        generate: Whether generated frames stand after the golden ones.

    Attributes:
        random: Whether the golden ones were made up.
        golden: How many are golden.
        generated: How many stand after them: extremes, patterns, and values around the thresholds of layers, whatever
            somebody had at hand as golden inputs.
        inputs: By tensor of the design: (frames, *shape of one), whole numbers.
        outputs: Likewise; what the hardware model computes.

    Raises:
        BuildError: Golden inputs cannot be read, do not fit, or are not what the accelerator's input can hold; or the
            model cannot be executed.
    """

    def __init__(
        self, model: ModelWrapper, design: Design, cfg: Any, frames: int | None = None, generate: bool = False
    ) -> None:
        from brainsmith.execution.execute import Executor

        self._design = design
        self._executor = Executor(model)
        self.random = cfg.verify_input_npy is None
        fitting = max(LEAST_RANDOM_FRAMES, RANDOM_CYCLES // max(1, design.interval))
        self._fed = self._feed(model, cfg, frames, frames or min(RANDOM_FRAMES, fitting))
        self.golden = self._count()
        self.inputs = self._whole_inputs()  # problems of golden inputs are reported for them alone
        if generate:
            self._fed = self._with_generated(model, self._fed)
            self.inputs = self._whole_inputs()
        self.generated = self._count() - self.golden
        self.outputs = self._compute(self._count(), frozenset())

    def _count(self) -> int:
        return len(next(iter(self._fed.values())))

    def _whole_inputs(self) -> dict[str, Stack]:
        layouts = {stream.layout.tensor: stream.layout for stream in self._design.inputs}
        return {name: whole(stack, layouts[name]) for name, stack in self._fed.items()}

    def tensors(self, frames: int) -> Mapping[str, Stack]:
        """Return what every link of the design should carry, for the first so many frames."""
        names = {link.layout.tensor for link in self._design.links if link.layout}
        return self._compute(frames, frozenset(names))

    def _with_generated(self, model: ModelWrapper, fed: dict[str, Stack]) -> dict[str, Stack]:
        """Put generated frames after golden ones; none for an input of floats, whose range is not known."""
        from brainsmith.execution.generated_inputs import generated_inputs

        if not all(model.get_tensor_datatype(name).is_integer() for name in fed):
            return fed
        most = max(1, min(GENERATED_FRAMES, GENERATED_CYCLES // max(1, self._design.interval)))
        made = {name: generated_inputs(model, name).few(most) for name in fed}
        count = min(map(len, made.values()))
        return {name: np.concatenate([stack, made[name][:count]]) for name, stack in fed.items()}

    def _compute(self, frames: int, keep: frozenset[str]) -> dict[str, Stack]:
        layouts = {link.layout.tensor: link.layout for link in self._design.links if link.layout}
        parts = []
        for begin in range(0, frames, _AT_ONCE):  # floats of all tensors of all frames would take gigabytes
            some = slice(begin, min(begin + _AT_ONCE, frames))
            results = self._executor.run({name: stack[some] for name, stack in self._fed.items()}, keep)
            parts.append({name: whole(results[name], layouts[name]) for name in layouts if name in results})
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    def _feed(self, model: ModelWrapper, cfg: Any, frames: int | None, made: int) -> dict[str, Stack]:
        """Return a stack for each of the model's inputs, having computed what the host computes."""
        from brainsmith.execution.execute import Executor

        parent = _parent(model, Path(cfg.output_dir))
        if parent is None:
            return {
                name: _inputs(model, self._executor, name, cfg, frames, made)
                for name in self._executor.inputs
            }
        host = Executor(parent, inner=model)
        given = {name: _inputs(parent, host, name, cfg, frames, made) for name in host.inputs}
        (node,) = parent.get_nodes_by_op_type(PARTITION)
        wanted = [name for name in node.input if name not in host.constants]
        found = given if set(wanted) <= set(given) else host.run(given, keep=frozenset(wanted))
        return {name: found[outer] for name, outer in zip(self._executor.inputs, wanted, strict=True)}


def _parent(model: ModelWrapper, folder: Path) -> ModelWrapper | None:
    """Return the model that holds this one as its only partition, if a step left one behind."""
    parent = None if model.get_nodes_by_op_type(PARTITION) else parent_model(folder)
    partitions = 1 if parent is None else len(parent.get_nodes_by_op_type(PARTITION))
    if partitions != 1:
        raise BuildError(
            f"the model is one of {partitions} dataflow partitions of a larger one, which cannot be verified"
        )
    return parent


def _inputs(
    model: ModelWrapper, executor: Executor, name: str, cfg: Any, frames: int | None, made: int
) -> Stack:
    """Return the golden inputs, the first so many; or as many random ones as shall be made."""
    from brainsmith.execution.inputs import random_inputs, read_inputs

    if cfg.verify_input_npy is None:
        seed = RANDOM_SEED + executor.inputs.index(name)  # inputs of one shape must not be the same
        return random_inputs(model, name, made, seed)
    at = executor.inputs.index(name) if len(executor.inputs) > 1 else None
    return read_inputs(Path(cfg.verify_input_npy), executor.shape(name), name, at)[:frames]


def whole(stack: Stack, layout: Layout) -> Stack:
    """Return a tensor as the whole numbers that a stream carries.

    Raises:
        BuildError: It holds others.
    """
    numbers = np.rint(stack)
    low, high = layout.span
    if not np.array_equal(numbers, stack) or numbers.min() < low or numbers.max() > high:
        raise BuildError(
            f"tensor {layout.tensor!r} holds values from {stack.min():g} to {stack.max():g}, and its stream carries "
            f"whole numbers from {low} to {high}: give golden inputs that the model's input datatype allows"
        )
    bits = next(size for size in (8, 16, 32, 64) if -(1 << size - 1) <= low and high < 1 << size - 1)
    return numbers.astype(f"int{bits}")
