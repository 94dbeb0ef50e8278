"""Check an op's gradient against finite differences: `gradcheck("swish")`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from brainsmith.autodiff.calls import as_op
from brainsmith.autodiff.checking.finite_differences import slope
from brainsmith.autodiff.checking.points import Point, TensorFunctionOp, differentiable, points_of
from brainsmith.autodiff.op import Array, Arrays, Op, attributes_of
from brainsmith.errors import GradientError, OpError
from brainsmith.figures import plural

TOLERANCE = 1e-6
"""Relative, where the op computes in float64. The differences are good to about 1e-10, and a wrong formula is wrong by
per cents; between them there is room for ops that are steep or add up thousands of terms."""

TOLERANCE_OF_FLOAT32 = 1e-3
"""Where the op gives float32: with the step that suits it, the differences are good to about 1e-4."""

_BESIDE = 0.01
"""An element's gradient may be off by this much of what the largest one of its input may be off."""

_MOST_ELEMENTS = 200
"""How many elements of one input are checked at one point; of larger ones they are drawn."""


@dataclass(frozen=True)
class GradientReport:
    """What a gradient check found.

    Attributes:
        op: The name of the op.
        against: `forward`, or `its surrogate` for a straight-through op.
        points: At how many points (lists of inputs) it was checked.
        elements: How many derivatives were compared.
        skipped: How many were not, because a kink, a jump or the domain's edge is nearer than a step.
        worst: The largest relative error by input.
    """

    op: str
    against: str
    points: int
    elements: int
    skipped: int
    worst: dict[int, float]

    def __str__(self) -> str:
        errors = ", ".join(f"{error:.1e} for input {at}" for at, error in self.worst.items())
        skipped = f", {self.skipped} skipped at kinks" if self.skipped else ""
        return (
            f"{self.op}: backward is the derivative of {self.against} at {plural(self.points, 'point')}, "
            f"{plural(self.elements, 'element')}{skipped}; largest relative error {errors}"
        )


def gradcheck(
    op: str | Op | type[Op] | Callable[..., Any],
    inputs: Sequence[Any] | None = None,
    *,
    attributes: Mapping[str, Any] | None = None,
    seed: int = 0,
    tolerance: float | None = None,
) -> GradientReport:
    """Check that `backward` is the derivative of `forward`, or of `surrogate` where the op declares one.

    Every differentiable input and every output takes part. The gradient of the output is drawn, so a backward that
    ignores it is found. Where no inputs are given they are drawn, in several shapes, or are the op's own `samples`.

    Args:
        op: An op, its name, its class, or a function of Tensors (which needs `inputs`).
        inputs: Where to check; floats are taken as float64, and as float32 if the op refuses that.
        attributes: Those of the call.
        seed: Of what is drawn.
        tolerance: The largest relative error; 1e-6 by default, 1e-3 for an op that gives float32.

    Raises:
        GradientError: The gradient is missing or wrong; the message names op, input, element, and both values.
        OpError: The op cannot be called with such inputs.
    """
    if tolerance is not None and not (isinstance(tolerance, int | float) and 0 < tolerance < 1):
        raise OpError(f"tolerance of a gradient check must be between 0 and 1, not {tolerance!r}")
    if not isinstance(seed, int) or seed < 0:
        raise OpError(f"seed of a gradient check must be a whole number from 0 on, not {seed!r}")
    check = _Check(_as_op(op, inputs), attributes or {}, np.random.default_rng(seed), tolerance)
    points = points_of(check.op, inputs, check.attributes, check.random)
    with np.errstate(all="ignore"):
        for point in points:
            check.check_point(point)
    return check.report(len(points))


def _as_op(op: Any, inputs: Sequence[Any] | None) -> Op:
    found = as_op(op)
    if isinstance(found, Op):
        return found
    if not callable(op) or isinstance(op, type):
        raise OpError(f"gradcheck takes an op, its name, its class or a function of Tensors, not {op!r}")
    if inputs is None:
        raise OpError("gradcheck of a function needs inputs=: how many it takes is not known")
    return TensorFunctionOp(op, len(inputs))


class _Compared(NamedTuple):
    """One derivative: where, what the differences say, what backward says, and by how much they may differ."""

    element: tuple[int, ...]
    expected: float
    found: float
    doubt: float


class _Check:
    """The check of one op, and what was compared so far."""

    def __init__(
        self, op: Op, attributes: Mapping[str, Any], random: np.random.Generator, tolerance: float | None
    ) -> None:
        if not op.has_gradient:
            raise GradientError(f"operation {op.name!r} has no gradient: it defines no backward")
        if not differentiable(op):
            raise GradientError(f"operation {op.name!r} has no gradient to check: no input is differentiable")
        self.op, self.attributes = op, attributes_of(op, attributes)
        self.random, self.tolerance = random, tolerance
        self.against = "forward" if op.surrogate is None else "its surrogate"
        self.elements = self.skipped = 0
        self.worst: dict[int, float] = {}

    def report(self, points: int) -> GradientReport:
        """Return what was found at so many points."""
        for at in differentiable(self.op):
            if at not in self.worst:
                raise GradientError(
                    f"the gradient of operation {self.op.name!r} for input {at} could not be checked: all "
                    f"{self.skipped} elements that were tried are nearer than a step to a kink, a jump or the domain's "
                    "edge; give other inputs="
                )
        return GradientReport(self.op.name, self.against, points, self.elements, self.skipped, self.worst)

    def check_point(self, point: Point) -> None:
        """Compare the gradients of all inputs at a point."""
        weights = [_draw_weights(self.random, output) for output in point.outputs]
        gradients = self._gradients(point, weights)
        for at in differentiable(self.op):
            gradient = np.asarray(gradients[at], np.float64)
            function, x = point.along(self.op, at, self.attributes), point.inputs[at]
            compared = []
            for element in _elements(x.shape, self.random):
                expected = slope(function, x, element, weights, point.epsilon)
                if expected.smooth:
                    found = float(gradient[element])
                    compared.append(_Compared(element, expected.value, found, expected.doubt))
                else:
                    self.skipped += 1
            self._compare(at, compared, point)

    def _compare(self, at: int, compared: list[_Compared], point: Point) -> None:
        limit = self.tolerance or (TOLERANCE if point.epsilon < 1e-10 else TOLERANCE_OF_FLOAT32)
        largest = max((abs(one.expected) for one in compared), default=0.0)
        for one in compared:
            size = abs(one.expected) + _BESIDE * largest
            error = abs(one.found - one.expected)
            if not error <= limit * size + one.doubt:
                raise GradientError(self._wrong(at, one, point) + self._hint(at, point, largest == 0))
            unit = size + one.doubt / limit
            self.worst[at] = max(self.worst.get(at, 0.0), error / unit if unit else 0.0)
            self.elements += 1

    def _wrong(self, at: int, one: _Compared, point: Point) -> str:
        place = f"element {one.element}" if one.element else "the one element"
        return (
            f"backward of operation {self.op.name!r} is not the derivative of {self.against}: for input {at}, {place} of "
            f"shape {point.inputs[at].shape}, finite differences give {one.expected:.8g}, backward gives {one.found:.8g}"
        )

    def _hint(self, at: int, point: Point, flat: bool) -> str:
        """Return what is probably wrong with a backward; `flat` where forward has the derivative 0 everywhere."""
        ones = [np.ones(output.shape) for output in point.outputs]
        twos = [2 * weight for weight in ones]
        first, second = (np.asarray(self._gradients(point, weights)[at]) for weights in (ones, twos))
        if np.array_equal(first, second) and first.any():
            return "; it is the same whatever the output's gradient is: backward must multiply by grad_output"
        if flat and self.op.surrogate is None:
            return "; forward is flat there: a straight-through op declares the surrogate= of its backward"
        return ""

    def _gradients(self, point: Point, weights: Arrays) -> Sequence[Any]:
        upstream = tuple(w.astype(output.dtype) for w, output in zip(weights, point.outputs, strict=True))
        output, grad = (given if self.op.num_outputs > 1 else given[0] for given in (point.outputs, upstream))
        return self.op.create_gradient_function(point.inputs, output, **self.attributes).gradients(grad)


def _draw_weights(random: np.random.Generator, output: Array) -> Array:
    """Draw an output's gradient, away from 0 and from 1; an output that is not of floats has none."""
    sign = random.choice([-1.0, 1.0], output.shape)
    drawn = sign * random.uniform(0.25, 0.75, output.shape) + sign
    weights = drawn if output.dtype.kind == "f" else np.zeros(output.shape)
    return np.asarray(weights, np.result_type(output.dtype, np.float32))


def _elements(shape: tuple[int, ...], random: np.random.Generator) -> list[tuple[int, ...]]:
    every = list(np.ndindex(shape))
    if len(every) <= _MOST_ELEMENTS:
        return every
    return [every[at] for at in sorted(random.choice(len(every), _MOST_ELEMENTS, replace=False))]
