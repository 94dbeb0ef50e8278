"""An op's forward as a call computes it: what it gives has the dtype that the op's rule says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from brainsmith.autodiff.op import Op


def ruled_forward(op: Op, attributes: Mapping[str, Any]) -> Callable[..., Any]:
    """Return the forward of an op with attributes, its outputs converted as `calls.run_forward` converts them.

    The function takes arrays, numpy scalars, and the stand-ins by which it is traced. Ops whose rules are known to be
    those of their forward (`trusted`) need no conversion.
    """

    def forward(*inputs: Any) -> Any:
        given = op.forward(*inputs, **attributes)
        if op.trusted:
            return given
        rules = op.output_dtype([value.dtype for value in inputs], **attributes)
        if op.num_outputs == 1:
            return converted(given, rules)
        return tuple(converted(value, rule) for value, rule in zip(given, rules, strict=True))

    return forward


def converted(value: Any, dtype: Any) -> Any:
    """Return a value of an array, a numpy scalar or a stand-in in a dtype; itself if it has that."""
    array = value if hasattr(value, "dtype") else np.asarray(value)
    return array if array.dtype == dtype else array.astype(dtype)
