"""How a compiled loop goes through arrays of any shape and strides: in rows and columns.

The compiled code is a loop over columns inside of loops over rows, and a reduction goes over the columns. For example
`x - max(x, axis=1)` for a float32 `x` of shape (2, 3, 4): the reduced axis comes last, so the axes are taken in the
order (0, 2, 1). `dims` is (2, 4, 3): 2 x 4 rows of 3 columns. The strides of x along them are (48, 4, 16) bytes. The
result is computed in the shape (2, 4, 3), `made`, and its axes are put back into their order by a transpose with (0,
2, 1), `back`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.autodiff.compiling.expression import Constant, Expression, Input, Operand, Result
from brainsmith.autodiff.compiling.functions import FUNCTIONS
from brainsmith.errors import OpError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from brainsmith.autodiff.op import Shapes

Shape = tuple[int, ...]


@dataclass(frozen=True)
class CallLayout:
    """The rows and columns of one call.

    Attributes:
        dims: The sizes of the loops over rows, then the number of columns.
        strides: For each input and output, its strides along `dims`, in bytes.
        patterns: As of a `Kernel`.
        stores: As of a `Kernel`.
        made: The shape in which each output is computed: reduced axes last.
        outputs: The shape that each output has in the end.
        back: The transpose that puts the axes of an output with a value per column into order; empty if none is needed.
    """

    dims: Shape
    strides: tuple[Shape, ...]
    patterns: str
    stores: str
    made: tuple[Shape, ...]
    outputs: tuple[Shape, ...]
    back: Shape

    def finish(self, array: np.ndarray[Any, Any], at: int) -> np.ndarray[Any, Any]:
        """Return a computed output with its final shape and order of axes."""
        if self.stores[at] == "r":
            return array.reshape(self.outputs[at])
        return array.transpose(self.back) if self.back else array


def plan_layout(
    expression: Expression, arrays: Sequence[tuple[Shape, Shape, int]], out_sizes: Sequence[int]
) -> CallLayout:
    """Find rows and columns for the arrays of a call.

    Args:
        expression: What is computed.
        arrays: Shape, strides and size of an element of each input; the latter in bytes.
        out_sizes: The size of an element of each output, in bytes.

    Raises:
        OpError: One loop over rows and columns cannot compute this; such a call is computed by numpy.
    """
    shapes = [shape for shape, _, _ in arrays]
    step_shapes = _StepShapes(expression, shapes)
    full, reduced = step_shapes.full, step_shapes.reduced
    rows = tuple(at for at in range(len(full)) if at not in reduced)
    order = (*rows, *reduced)
    stores = "".join(map(step_shapes.store_of, step_shapes.outputs))
    columns = tuple(full[at] for at in order)
    made = tuple(columns if store == "c" else columns[: len(rows)] for store in stores)
    along = [
        _spread(shape, stride, full, order) if at in step_shapes.used else (0,) * len(full)
        for at, (shape, stride, _) in enumerate(arrays)
    ]
    along += [_contiguous(shape, size, len(full)) for shape, size in zip(made, out_sizes, strict=True)]
    dims, strides = _merge(columns, along, len(rows) if reduced else None)
    patterns = "".join(
        _pattern(stride[-1], size, dims[-1]) for stride, (_, _, size) in zip(strides, arrays, strict=False)
    )
    back = () if order == tuple(range(len(full))) else tuple(int(at) for at in np.argsort(order))
    return CallLayout(dims, strides, patterns, stores, made, step_shapes.outputs, back)


class _StepShapes:
    """The shapes that the steps of an expression have for inputs of certain shapes."""

    def __init__(self, expression: Expression, shapes: Shapes) -> None:
        self.shapes = shapes
        self.steps: list[Shape] = []
        self.dropping: list[bool] = []
        self._operand: Shape | None = None
        self.reduced: Shape = ()
        for step in expression.steps:
            given = [self._shape(operand) for operand in step.operands]
            if FUNCTIONS[step.function].reduces:
                self._reduce(given[0], dict(step.options), step.operands[0])
            else:
                self.steps.append(np.broadcast_shapes(*given))
                self.dropping.append(self._drops(step.operands))
        self.outputs = tuple(map(self._shape, expression.outputs))
        self.full = np.broadcast_shapes(*self.outputs) if self._operand is None else self._operand
        read = (*expression.outputs, *(one for step in expression.steps for one in step.operands))
        self.used = {one.index for one in read if isinstance(one, Input)}
        if any(np.broadcast_shapes(shapes[at], self.full) != self.full for at in self.used):
            raise OpError("an input is larger than the result")
        if not all(self.full):
            raise OpError("arrays without elements are not compiled")

    def store_of(self, shape: Shape) -> str:
        """Return whether an output has a value for each column (`c`) or one for each row (`r`)."""
        if shape == self.full:
            return "c"
        if self.reduced and shape in _reduced_shapes(self.full, self.reduced):
            return "r"
        raise OpError("the outputs differ in shape")

    def _reduce(self, shape: Shape, options: dict[str, Any], operand: Operand) -> None:
        axis = options.get("axis")
        axes = range(len(shape)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
        reduced = tuple(sorted(at + len(shape) if at < 0 else at for at in axes))
        if not reduced or not all(0 <= at < len(shape) for at in reduced) or len(set(reduced)) < len(reduced):
            raise OpError("a reduction has no such axes")
        if self._operand not in (None, shape) or self.reduced not in ((), reduced) or self._drops((operand,)):
            raise OpError("reductions over different axes")
        self._operand, self.reduced = shape, reduced
        kept, dropped = _reduced_shapes(shape, reduced)
        keeps = bool(options.get("keepdims"))
        self.steps.append(kept if keeps else dropped)
        self.dropping.append(not keeps and dropped != ())

    def _drops(self, operands: Sequence[Operand]) -> bool:
        """Tell whether the axes of a value are those that a reduction left; such values go with each other alone."""
        drops = [isinstance(one, Result) and self.dropping[one.index] for one in operands]
        others = [one for one, drop in zip(operands, drops, strict=True) if not drop]
        if any(drops) and any(self._shape(one) != () for one in others):
            raise OpError("a reduction without keepdims=True is combined with an array")
        return any(drops)

    def _shape(self, operand: Operand) -> Shape:
        if isinstance(operand, Constant):
            return ()
        return self.shapes[operand.index] if isinstance(operand, Input) else self.steps[operand.index]


def _reduced_shapes(full: Shape, reduced: Shape) -> tuple[Shape, Shape]:
    """Return the shapes of a reduction, with keepdims=True and without."""
    kept = tuple(1 if at in reduced else size for at, size in enumerate(full))
    return kept, tuple(size for at, size in enumerate(full) if at not in reduced)


def _spread(shape: Shape, strides: Shape, full: Shape, order: Shape) -> Shape:
    """Return the strides of an array that is broadcast to the full shape, its axes in an order."""
    missing = len(full) - len(shape)
    wide = [0] * missing + [0 if size == 1 else step for size, step in zip(shape, strides, strict=True)]
    return tuple(wide[at] for at in order)


def _contiguous(shape: Shape, size: int, dims: int) -> Shape:
    """Return the strides of a new array, 0 along the dimensions that it has not."""
    strides = []
    for length in reversed(shape):
        strides.append(size)
        size *= length
    return tuple(reversed(strides)) + (0,) * (dims - len(shape))


def _merge(sizes: Shape, arrays: Shapes, rows: int | None) -> tuple[Shape, tuple[Shape, ...]]:
    """Merge neighbouring dimensions wherever all arrays are contiguous over them: (2, 3, 4) in C order becomes 24 columns.

    Args:
        sizes: The sizes of the dimensions.
        arrays: The strides of each array along them.
        rows: How many dimensions are rows where the rest is reduced; None where any dimension may be the columns.
    """
    groups: list[tuple[int, tuple[int, ...]]] = []
    first_column = 0
    for at, size in enumerate(sizes):
        if at == rows:
            first_column = len(groups)
        if size == 1:
            continue
        steps = tuple(strides[at] for strides in arrays)
        apart = len(groups) == first_column and rows is not None and at >= rows
        if groups and not apart and groups[-1][1] == tuple(step * size for step in steps):
            groups[-1] = (groups[-1][0] * size, steps)
        else:
            groups.append((size, steps))
    if rows is not None and len(groups) - first_column > 1:
        raise OpError("the reduced axes are not contiguous in memory")
    if len(groups) == (first_column if rows is not None else 0):
        groups.append((1, (0,) * len(arrays)))
    dims = tuple(size for size, _ in groups)
    return dims, tuple(tuple(steps[k] for _, steps in groups) for k in range(len(arrays)))


def _pattern(stride: int, size: int, columns: int) -> str:
    if columns == 1 or stride == size:
        return "c"
    return "s" if stride == 0 else "g"
