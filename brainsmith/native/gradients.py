"""What the gradient of a native op is given, for plugins trust that it fits what forward made; and what it wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.autodiff.op import backward_error
from brainsmith.errors import GradientError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from brainsmith.autodiff.op import Array, Op, Shape


def fitting_gradients(op: Op, given: Any, promised: Sequence[tuple[Shape, np.dtype[Any]]]) -> list[Array]:
    """Return the gradient of each output as an array of the output's dtype.

    Args:
        op: The operation.
        given: An array, or a sequence of as many as the operation has outputs.
        promised: The shape and dtype of each output.

    Raises:
        GradientError: There is another number of them, or one has another shape or holds no numbers.
    """
    made = []
    for gradient, (shape, dtype) in zip(_each(op, given, "gradients"), promised, strict=True):
        try:
            array = np.asarray(gradient, dtype)
        except (TypeError, ValueError) as error:
            raise GradientError(
                f"the gradient of operation {op.name!r} must be an array of {dtype}, not {gradient!r}"
            ) from error
        if array.shape != shape:
            raise GradientError(
                f"the gradient of operation {op.name!r} must have its output's shape {shape}, not {array.shape}"
            )
        made.append(array)
    return made


def fitting_outputs(op: Op, given: Any, promised: Sequence[tuple[Shape, np.dtype[Any]]]) -> list[Array]:
    """Return the outputs of forward as arrays; arguments as for `fitting_gradients`.

    Raises:
        GradientError: There is another number of them, or one has another shape or dtype.
    """
    made = []
    for output, (shape, dtype) in zip(_each(op, given, "outputs"), promised, strict=True):
        is_array = isinstance(output, np.ndarray | np.generic)
        if not is_array or (output.shape, output.dtype.newbyteorder("=")) != (shape, dtype):
            found = f"one of {output.dtype} of shape {output.shape}" if is_array else repr(output)
            wanted = f"an array of {dtype} of shape {shape}"
            raise backward_error(op, f"must get what forward returned, {wanted}, not {found}")
        made.append(np.asarray(output))
    return made


_MARKS = {2: 0x7E5B, 4: 0x7FC5B51D, 8: 0x7FF8B51DC0DE5B51}
"""By bytes of an element: a NaN that no arithmetic makes of numbers. It stands for what was not written."""


def mark(made: Sequence[Array | None]) -> None:
    """Note in the first and the last element of new gradients that nothing was written there yet."""
    for _, bits in _ends(made):
        bits[:] = _MARKS[bits.itemsize]


def expect_written(op: Op, made: Sequence[Array | None]) -> None:
    """Check that a plugin has written all gradients that were marked: else what lay there before would be taken for one.

    Raises:
        GradientError: It has left the first or the last element of one as it was.
    """
    for at, bits in _ends(made):
        if (bits == _MARKS[bits.itemsize]).any():
            raise backward_error(
                op,
                f"did not write the gradient of input {at}, or not all of it; "
                "an input without one is to be in not_differentiable",
            )


def _ends(made: Sequence[Array | None]) -> Iterator[tuple[int, Array]]:
    """Yield of each gradient that has elements its index, and the bits of the first and the last one."""
    for at, array in enumerate(made):
        if array is not None and array.size:
            yield at, array.reshape(-1).view(f"u{array.itemsize}")[:: max(array.size - 1, 1)]


def _each(op: Op, given: Any, what: str) -> list[Any]:
    """Return one value for each output."""
    if op.num_outputs == 1:
        return [given]
    if not isinstance(given, list | tuple) or len(given) != op.num_outputs:
        got = len(given) if isinstance(given, list | tuple) else f"a value of type {type(given).__name__}"
        raise backward_error(op, f"must get {op.num_outputs} {what}, one for each output, not {got}")
    return list(given)
