"""A value on the tape."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from brainsmith.autodiff.op import Op


def apply_op(op: Op, inputs: Sequence[Any], attributes: Mapping[str, Any]) -> Any:
    """Run an op on values of which some are Tensors, and note it on the tape."""
    raise NotImplementedError
