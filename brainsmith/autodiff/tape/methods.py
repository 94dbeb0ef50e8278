"""What can be done with a Tensor: operators and methods, each one step of the tape."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.autodiff import functional
from brainsmith.autodiff.primitives import choices, reductions
from brainsmith.autodiff.primitives import elementwise as e
from brainsmith.autodiff.primitives.products import MATMUL
from brainsmith.autodiff.tape import numpy_calls as tape_numpy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from brainsmith.autodiff.op import Array
    from brainsmith.autodiff.primitives.reductions import Axes
    from brainsmith.autodiff.tape.tensor import Tensor


class TensorMethods:
    """The operators and methods of a Tensor. Comparisons give arrays."""

    __slots__ = ()

    apply: Callable[..., Tensor]

    @abstractmethod
    def numpy(self) -> Array:
        """Return the array."""

    def __add__(self, other: Any) -> Tensor:
        return self.apply(e.ADD, (self, other))

    def __radd__(self, other: Any) -> Tensor:
        return self.apply(e.ADD, (other, self))

    def __sub__(self, other: Any) -> Tensor:
        return self.apply(e.SUB, (self, other))

    def __rsub__(self, other: Any) -> Tensor:
        return self.apply(e.SUB, (other, self))

    def __mul__(self, other: Any) -> Tensor:
        return self.apply(e.MUL, (self, other))

    def __rmul__(self, other: Any) -> Tensor:
        return self.apply(e.MUL, (other, self))

    def __truediv__(self, other: Any) -> Tensor:
        return self.apply(e.DIV, (self, other))

    def __rtruediv__(self, other: Any) -> Tensor:
        return self.apply(e.DIV, (other, self))

    def __pow__(self, other: Any) -> Tensor:
        return self.apply(e.POW, (self, other))

    def __rpow__(self, other: Any) -> Tensor:
        return self.apply(e.POW, (other, self))

    def __matmul__(self, other: Any) -> Tensor:
        return self.apply(MATMUL, (self, other))

    def __rmatmul__(self, other: Any) -> Tensor:
        return self.apply(MATMUL, (other, self))

    def __neg__(self) -> Tensor:
        return self.apply(e.NEG, (self,))

    def __pos__(self) -> Tensor:
        return self  # type: ignore[return-value]

    def __abs__(self) -> Tensor:
        return self.apply(e.ABS, (self,))

    def __lt__(self, other: Any) -> Tensor:
        return self.apply(choices.LESS, (self, other))

    def __le__(self, other: Any) -> Tensor:
        return self.apply(choices.LESS_EQUAL, (self, other))

    def __gt__(self, other: Any) -> Tensor:
        return self.apply(choices.GREATER, (self, other))

    def __ge__(self, other: Any) -> Tensor:
        return self.apply(choices.GREATER_EQUAL, (self, other))

    def __eq__(self, other: object) -> Tensor:  # type: ignore[override]
        return self.apply(choices.EQUAL, (self, other))

    def __ne__(self, other: object) -> Tensor:  # type: ignore[override]
        return self.apply(choices.LOGICAL_NOT, (self == other,))

    def all(self) -> bool:
        """Tell whether all elements are true; what it tells is not on the tape."""
        return bool(self.numpy().all())

    def any(self) -> bool:
        """Tell whether an element is true; what it tells is not on the tape."""
        return bool(self.numpy().any())

    __hash__ = object.__hash__

    def __getitem__(self, key: Any) -> Tensor:
        found: Tensor = functional.index(self, key)
        return found

    def __iter__(self) -> Iterator[Tensor]:
        return (self[at] for at in range(len(self)))

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        return tape_numpy.call_ufunc(ufunc, method, inputs, options)

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        return tape_numpy.call_function(function, args, options)

    def __len__(self) -> int:
        return len(self.numpy())

    def __bool__(self) -> bool:
        return bool(self.numpy())

    def __float__(self) -> float:
        return float(self.numpy())

    def __int__(self) -> int:
        return int(self.numpy())

    def __format__(self, spec: str) -> str:
        array = self.numpy()
        return format(array.item() if spec and array.size == 1 else str(self), spec)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self.numpy(), dtype, copy=copy)

    def sum(self, axis: Axes = None, keepdims: bool = False) -> Tensor:
        """Return the sum over axes."""
        return self.apply(reductions.SUM, (self,), {"axis": axis, "keepdims": keepdims})

    def mean(self, axis: Axes = None, keepdims: bool = False) -> Tensor:
        """Return the mean over axes."""
        return self.apply(reductions.MEAN, (self,), {"axis": axis, "keepdims": keepdims})

    def max(self, axis: Axes = None, keepdims: bool = False) -> Tensor:
        """Return the greatest element over axes."""
        return self.apply(reductions.MAX, (self,), {"axis": axis, "keepdims": keepdims})

    def min(self, axis: Axes = None, keepdims: bool = False) -> Tensor:
        """Return the least element over axes."""
        return self.apply(reductions.MIN, (self,), {"axis": axis, "keepdims": keepdims})

    def exp(self) -> Tensor:
        """Return e to the power of each element."""
        return self.apply(e.EXP, (self,))

    def log(self) -> Tensor:
        """Return the natural logarithm."""
        return self.apply(e.LOG, (self,))

    def sqrt(self) -> Tensor:
        """Return the square root."""
        return self.apply(e.SQRT, (self,))

    def abs(self) -> Tensor:
        """Return the absolute value."""
        return self.apply(e.ABS, (self,))

    def tanh(self) -> Tensor:
        """Return the hyperbolic tangent."""
        return self.apply(e.TANH, (self,))

    def sigmoid(self) -> Tensor:
        """Return 1 / (1 + exp(-x))."""
        return self.apply(e.SIGMOID, (self,))

    def relu(self) -> Tensor:
        """Return the greater one of x and 0."""
        return self.apply(e.RELU, (self,))

    def var(self, axis: Axes = None, keepdims: bool = False) -> Tensor:
        """Return the variance over axes."""
        found: Tensor = functional.var(self, axis, keepdims)
        return found

    def argmax(self, axis: int | None = None, keepdims: bool = False) -> Tensor:
        """Return the index of the greatest element."""
        found: Tensor = functional.argmax(self, axis, keepdims)
        return found

    def clip(self, low: float | None = None, high: float | None = None) -> Tensor:
        """Return the elements, none beyond the bounds."""
        found: Tensor = functional.clip(self, low, high)
        return found

    def astype(self, dtype: Any) -> Tensor:
        """Return the elements as another dtype."""
        found: Tensor = functional.cast(self, dtype)
        return found

    def reshape(self, *shape: int | Sequence[int]) -> Tensor:
        """Return the elements in another shape, given as numbers or as one tuple."""
        found: Tensor = functional.reshape(self, shape[0] if len(shape) == 1 else shape)  # type: ignore[arg-type]
        return found

    def transpose(self, *axes: int) -> Tensor:
        """Return the axes in another order, reversed by default."""
        found: Tensor = functional.transpose(self, axes or None)
        return found

    @property
    def T(self) -> Tensor:
        """The axes reversed."""
        return self.transpose()

    def flatten(self) -> Tensor:
        """Return each sample as one row: (N, ...) to (N, everything)."""
        found: Tensor = functional.flatten(self)
        return found

    def squeeze(self, axis: Axes = None) -> Tensor:
        """Return the elements without axes of length 1."""
        found: Tensor = functional.squeeze(self, axis)
        return found
