"""What the gradient of a native op is given: plugins trust that it fits what forward made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.errors import GradientError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from brainsmith.autodiff.op import Array, Op, Shape


def fitting_gradients(
    op: Op, given: Any, shapes: Sequence[Shape], dtypes: Sequence[np.dtype[Any]]
) -> list[Array]:
    """Return the gradient of each output as an array of the output's dtype.

    Args:
        op: The operation.
        given: An array, or a sequence of as many as the operation has outputs.
        shapes: Of the outputs.
        dtypes: Of the outputs.

    Raises:
        GradientError: There is another number of them, or one has another shape or holds no numbers.
    """
    made = []
    for gradient, shape, dtype in zip(_each(op, given, "gradients"), shapes, dtypes, strict=True):
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


def fitting_outputs(
    op: Op, given: Any, shapes: Sequence[Shape], dtypes: Sequence[np.dtype[Any]]
) -> list[Array]:
    """Return the outputs of forward as arrays; arguments as for `fitting_gradients`.

    Raises:
        GradientError: There is another number of them, or one has another shape or dtype.
    """
    made = []
    for output, shape, dtype in zip(_each(op, given, "outputs"), shapes, dtypes, strict=True):
        if not isinstance(output, np.ndarray | np.generic):
            raise GradientError(
                f"backward of operation {op.name!r} must get what forward returned, an array of {dtype} "
                f"of shape {shape}, not {output!r}"
            )
        if (output.shape, output.dtype.newbyteorder("=")) != (shape, dtype):
            raise GradientError(
                f"backward of operation {op.name!r} must get what forward returned, an array of {dtype} "
                f"of shape {shape}, not one of {output.dtype} of shape {output.shape}"
            )
        made.append(np.asarray(output))
    return made


def _each(op: Op, given: Any, what: str) -> list[Any]:
    """Return one value for each output."""
    if op.num_outputs == 1:
        return [given]
    if not isinstance(given, list | tuple) or len(given) != op.num_outputs:
        got = len(given) if isinstance(given, list | tuple) else f"a value of type {type(given).__name__}"
        raise GradientError(
            f"backward of operation {op.name!r} must get {op.num_outputs} {what}, one for each output, not {got}"
        )
    return list(given)
