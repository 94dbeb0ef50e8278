"""A chain of ops as one op, and which of them validate what they are given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from brainsmith.autodiff.builder import BuiltOp
from brainsmith.autodiff.calls import check_inputs
from brainsmith.autodiff.compiling.ruled_forward import converted, ruled_forward
from brainsmith.autodiff.op import Array, Arrays, Dtypes, Op, Shapes


class ChainOp(Op):
    """Ops one after the other, in Python: each takes the output of the one before, and further inputs of the chain."""

    def __init__(self, links: Sequence[Op]) -> None:
        self.links = tuple(links)
        self.name = "_".join(link.name for link in links)
        # By link: which inputs of the chain it takes after the first; the first link takes input 0 too.
        self._extra: list[tuple[int, ...]] = []
        self.num_inputs = 1
        blocked: set[int] = set()
        for link in links:
            extra = tuple(range(self.num_inputs, self.num_inputs + link.num_inputs - 1))
            self._extra.append(extra)
            self.num_inputs += len(extra)
            blocked.update((0, *extra)[at] for at in link.not_differentiable)
        self.not_differentiable = tuple(sorted(blocked))

    @property
    def has_gradient(self) -> bool:
        """Whether all ops have one."""
        return all(link.has_gradient for link in self.links)

    def forward(self, *inputs: Array, **attributes: Any) -> Any:
        """Run all."""
        return self._values(inputs)[-1]

    def backward(self, grad_output: Any, inputs: Arrays, output: Any, **attributes: Any) -> Any:
        """Run all, then their gradients in reverse; each gets a gradient of its output's dtype, as on the tape."""
        values = self._values(inputs)
        found: list[Any] = [None] * self.num_inputs
        for link, extra, x, y in reversed(
            list(zip(self.links, self._extra, [inputs[0], *values], values, strict=False))
        ):
            given = (x, *(inputs[at] for at in extra))
            gradients = link.backward(grad_output, given, y, **link.attributes)
            gradients = gradients if isinstance(gradients, tuple | list) else (gradients,)
            for at, gradient in zip(extra, gradients[1:], strict=True):
                found[at] = gradient
            grad_output = gradients[0]
            if grad_output is None:
                break
            if x.dtype.kind == "f":
                grad_output = converted(grad_output, x.dtype)
        found[0] = grad_output
        return tuple(found)

    def validate_inputs(self, inputs: Arrays, **attributes: Any) -> None:
        """Have each op validate what it is given; for that all before the last one that does so are run.

        Raises:
            OpError: One does not take it.
        """
        asked = [at for at, link in enumerate(self.links) if validates_inputs(link)]
        value: Any = inputs[0]
        for at in range(max(asked, default=-1) + 1):
            link = self.links[at]
            given = (np.asarray(value), *(inputs[one] for one in self._extra[at]))
            check_inputs(link, given, link.attributes)
            if at < asked[-1]:
                value = ruled_forward(link, link.attributes)(*given)

    def output_shape(self, shapes: Shapes, **attributes: Any) -> Any:
        """Follow all rules."""
        return self._through(list(shapes), "output_shape")

    def output_dtype(self, dtypes: Dtypes, **attributes: Any) -> Any:
        """Follow all rules."""
        return self._through(list(dtypes), "output_dtype")

    def _through(self, given: Sequence[Any], rule: str) -> Any:
        value = given[0]
        for link, extra in zip(self.links, self._extra, strict=True):
            value = getattr(link, rule)([value, *(given[at] for at in extra)], **link.attributes)
        return value

    def _values(self, inputs: Arrays) -> list[Any]:
        values: list[Any] = []
        value: Any = inputs[0]
        for link, extra in zip(self.links, self._extra, strict=True):
            value = ruled_forward(link, link.attributes)(value, *(inputs[at] for at in extra))
            values.append(value)
        return values


def validates_inputs(op: Op) -> bool:
    """Tell whether an op validates its inputs: as a part of a loop it would not see them."""
    if isinstance(op, BuiltOp):
        return "validate" in op.functions
    if isinstance(op, ChainOp):
        return any(map(validates_inputs, op.links))
    return getattr(op.validate_inputs, "__func__", None) is not Op.validate_inputs
