"""What can be done with a Tensor: operators and methods, each one step of the tape."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec

import numpy as np

from brainsmith.autodiff import functional
from brainsmith.autodiff.primitives import elementwise as e
from brainsmith.autodiff.primitives.products import MATMUL
from brainsmith.autodiff.tape import numpy_calls as tape_numpy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from brainsmith.autodiff.op import Array, Op
    from brainsmith.autodiff.tape.tensor import Tensor

_Parameters = ParamSpec("_Parameters")


def _method(
    function: Callable[Concatenate[Any, _Parameters], Any],
) -> Callable[Concatenate[TensorMethods, _Parameters], Tensor]:
    """Return a function of the tape as a method: it is one as it stands, and gives a Tensor for one."""
    return function


def _operators(
    op: Op,
) -> tuple[Callable[[TensorMethods, Any], Tensor], Callable[[TensorMethods, Any], Tensor]]:
    """Return an op as an operator, and as the reflected one."""

    def operator(self: TensorMethods, other: Any) -> Tensor:
        return self.apply(op, (self, other))

    def reflected(self: TensorMethods, other: Any) -> Tensor:
        return self.apply(op, (other, self))

    return operator, reflected


class TensorMethods:
    """The operators and methods of a Tensor."""

    __slots__ = ()

    apply: Callable[..., Tensor]

    @abstractmethod
    def numpy(self) -> Array:
        """Return the array."""

    __add__, __radd__ = _operators(e.ADD)
    __sub__, __rsub__ = _operators(e.SUB)
    __mul__, __rmul__ = _operators(e.MUL)
    __truediv__, __rtruediv__ = _operators(e.DIV)
    __pow__, __rpow__ = _operators(e.POW)
    __matmul__, __rmatmul__ = _operators(MATMUL)
    __lt__, __gt__ = _method(functional.less), _method(functional.greater)
    __le__, __ge__ = _method(functional.less_equal), _method(functional.greater_equal)
    __eq__ = _method(functional.equal)  # type: ignore[assignment]
    __abs__ = _method(functional.abs)

    def __ne__(self, other: object) -> Tensor:  # type: ignore[override]
        found: Tensor = functional.logical_not(self == other)
        return found

    def __neg__(self) -> Tensor:
        return self.apply(e.NEG, (self,))

    def __pos__(self) -> Tensor:
        return self  # type: ignore[return-value]

    def all(self) -> bool:
        """Tell whether all elements are true; what it tells is not on the tape."""
        return bool(self.numpy().all())

    def any(self) -> bool:
        """Tell whether an element is true; what it tells is not on the tape."""
        return bool(self.numpy().any())

    __hash__ = object.__hash__

    __getitem__ = _method(functional.index)

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

    exp = _method(functional.exp)
    log = _method(functional.log)
    sqrt = _method(functional.sqrt)
    abs = _method(functional.abs)
    tanh = _method(functional.tanh)
    sigmoid = _method(functional.sigmoid)
    relu = _method(functional.relu)
    sum = _method(functional.sum)
    mean = _method(functional.mean)
    max = _method(functional.max)
    min = _method(functional.min)
    var = _method(functional.var)
    argmax = _method(functional.argmax)
    clip = _method(functional.clip)
    flatten = _method(functional.flatten)
    squeeze = _method(functional.squeeze)
    astype = _method(functional.cast)

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
