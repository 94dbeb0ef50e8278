"""Split a batch over several callables that run at once, and join what they give."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from brainsmith.autodiff.calls import as_arrays, as_op, call_op
from brainsmith.autodiff.op import Array, Arrays, Op
from brainsmith.errors import NativeLibraryError, OpError
from brainsmith.figures import plural
from brainsmith.shown import typed_text


def split_batch(
    op: str | Op | Callable[..., Any],
    inputs: Sequence[Any],
    over: int | Sequence[str | Op | Callable[..., Any]],
    axis: int = 0,
    whole: Sequence[int] = (),
    **attributes: Any,
) -> Any:
    """Run an op on parts of a batch at the same time, and return the whole.

    The result is that of the unsplit call for an op that treats each sample alone. One that mixes samples (a mean over
    the batch, a sort) gives another result, and nothing can tell: that is for the caller to know.

    The batch lies along the axis of the inputs that have the most dimensions. What has fewer, or has the extent 1 there
    beside inputs that have more, goes to each part whole, as in broadcasting; so does what `whole` names, such as
    weights that have as many dimensions.

    Args:
        op: What is run: an op, its name, or a function of arrays.
        inputs: Arrays, numbers or lists. A split of Tensors would leave the tape, and is refused.
        over: How many parts, each run by `op`; or what runs each part, such as the ops of several isolated libraries.
            Extents that do not divide evenly differ by 1, the larger parts first; parts without a sample are not run.
        axis: Along which the batch lies; a negative one counts from the end of the inputs with the most dimensions.
        whole: The inputs, by index, that are not split.
        **attributes: Those of each part's call.

    Returns:
        An array, or a tuple of them where the op has several outputs.

    Raises:
        OpError: The batch cannot be split, a part failed, or the parts do not fit together; the part is named.
        PluginCrashError: A part ended the process that it ran in; the part is named.
    """
    op = as_op(op)
    runners = _runners(op, over)
    split, axis, extent = _batch(arrays := _as_arrays(op, inputs), axis, whole)
    bounds = _even_bounds(extent, len(runners))
    parts = [
        _Part(at, runner, _share(arrays, split, axis, begin, end), begin, end, attributes)
        for at, (runner, begin, end) in enumerate(zip(runners, bounds, bounds[1:], strict=False))
        if end > begin or (at == 0 and not extent)
    ]
    return _joined(parts, _results(parts), axis)


@dataclass
class _Part:
    """The share of one callable."""

    number: int
    runner: Any
    inputs: list[Array]
    begin: int
    end: int
    attributes: Mapping[str, Any]

    def run(self) -> Any:
        """Return what it gives; an error names it."""
        try:
            if isinstance(self.runner, Op):
                return call_op(self.runner, self.inputs, self.attributes)
            return self.runner(*self.inputs, **self.attributes)
        except (OpError, NativeLibraryError) as error:
            raise type(error)(f"{self}: {error}") from error
        except Exception as error:  # the runner is the user's code: whatever it raises names the part
            raise OpError(f"{self} failed: {typed_text(error)}") from error

    def __str__(self) -> str:
        return f"part {self.number} of the batch (samples {self.begin}:{self.end})"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _runners(op: Any, over: Any) -> list[Any]:
    if _is_number(over):
        if over < 1:
            raise OpError(f"a batch must be split into 1 or more parts, not {over}")
        runners = [op] * int(over)
    elif isinstance(over, tuple | list) and over:
        runners = [as_op(one) for one in over]
    else:
        raise OpError(f"over must be a number of parts, or the callables that run them, not {over!r}")
    for one in runners:
        if not isinstance(one, Op) and not callable(one):
            raise OpError(f"a part of a batch must be run by an op, its name or a function, not {one!r}")
    return runners


def _as_arrays(op: Any, inputs: Sequence[Any]) -> list[Array]:
    for at, value in enumerate(inputs):
        if getattr(value, "is_tape_tensor", False):
            raise OpError(
                f"a batch must be of arrays, and input {at} is a Tensor: the result would not be on its tape; "
                "give its data"
            )
    return as_arrays(op, inputs) if isinstance(op, Op) else [np.asarray(value) for value in inputs]


def _batch(arrays: Arrays, axis: Any, whole: Any) -> tuple[list[int], int, int]:
    """Return which inputs are split, along which axis from 0 on, and how many samples they have."""
    if not _is_number(axis):
        raise OpError(f"axis of a batch must be a number, not {axis!r}")
    if not isinstance(whole, tuple | list) or not all(_is_number(at) for at in whole):
        raise OpError(f"whole must be a list of the numbers of inputs, such as [1], not {whole!r}")
    for at in whole:
        if not 0 <= at < len(arrays):
            raise OpError(f"whole must name inputs from 0 to {len(arrays) - 1}, not {at!r}")
    free = [at for at in range(len(arrays)) if at not in whole]
    dimensions = max((arrays[at].ndim for at in free), default=0)
    axis += dimensions if -dimensions <= axis < 0 else 0
    if not 0 <= axis < dimensions:
        raise OpError(f"a batch has no axis {axis}: its inputs have {plural(dimensions, 'dimension')}")
    full = [at for at in free if arrays[at].ndim == dimensions]
    extents = sorted({arrays[at].shape[axis] for at in full} - {1}) or [1]
    if len(extents) > 1:
        raise OpError(
            f"inputs must have the same number of samples along axis {axis}, not {', '.join(map(str, extents))}; "
            "name those that every part needs in whole="
        )
    return [at for at in full if arrays[at].shape[axis] == extents[0]], axis, extents[0]


def _even_bounds(extent: int, count: int) -> list[int]:
    size, more = divmod(extent, count)
    return [at * size + min(at, more) for at in range(count + 1)]


def _share(arrays: Arrays, split: Sequence[int], axis: int, begin: int, end: int) -> list[Array]:
    window = (slice(None),) * axis + (slice(begin, end),)
    return [array[window] if at in split else array for at, array in enumerate(arrays)]


def _results(parts: Sequence[_Part]) -> list[Any]:
    """Run all parts at once, the first in this thread; the first error is raised when all have ended."""
    with ThreadPoolExecutor(len(parts), "brainsmith part of a batch") as pool:
        others = [pool.submit(part.run) for part in parts[1:]]
        return [parts[0].run(), *(other.result() for other in others)]


def _joined(parts: Sequence[_Part], results: Sequence[Any], axis: int) -> Any:
    several = isinstance(results[0], tuple | list)
    outputs = [
        tuple(map(np.asarray, given if isinstance(given, tuple | list) else (given,))) for given in results
    ]
    for part, some in zip(parts, outputs, strict=True):
        if len(some) != len(outputs[0]):
            raise OpError(f"{part} gave {plural(len(some), 'output')}, and {parts[0]} gave {len(outputs[0])}")
        for one in some:
            if one.ndim <= axis or one.shape[axis] != part.end - part.begin:
                raise OpError(
                    f"{part} gave an output of shape {one.shape}, which does not have "
                    f"{plural(part.end - part.begin, 'sample')} "
                    f"along axis {axis}: the op must keep the batch axis"
                )
    try:
        joined = tuple(np.concatenate(some, axis) for some in zip(*outputs, strict=True))
    except ValueError as error:
        raise OpError(f"the outputs of the parts do not fit together: {error}") from error
    return joined if several else joined[0]
