"""The function of torch.autograd that runs an op; imported only where torch is there and asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import torch

from brainsmith.autodiff.calls import as_arrays, call_op
from brainsmith.autodiff.op import attributes_of
from brainsmith.errors import GradientError, OpError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from brainsmith.autodiff.op import Array, Op


def run(op: Op, inputs: tuple[Any, ...], attributes: Mapping[str, Any]) -> Any:
    """Run an op on tensors, numbers and arrays."""
    return _Call.apply(op, attributes_of(op, attributes), *inputs)


class OpFunction(torch.autograd.Function):  # type: ignore[misc]
    """The base of what `as_torch_function` makes: an op that torch.autograd knows."""

    op: ClassVar[Op]

    @classmethod
    def apply(cls, *inputs: Any, **attributes: Any) -> Any:
        """Run the op."""
        return run(cls.op, inputs, attributes)


class _Call(torch.autograd.Function):  # type: ignore[misc]
    """One call of any op; op and attributes are its first two arguments."""

    @staticmethod
    def forward(ctx: Any, op: Op, attributes: dict[str, Any], *inputs: Any) -> Any:
        """Run the op's forward on the memory of the tensors."""
        arrays = [
            _array_of(op, at, value) if isinstance(value, torch.Tensor) else value
            for at, value in enumerate(inputs)
        ]
        given = call_op(op, arrays, attributes)
        outputs = _tensors_of(
            given if op.num_outputs > 1 else (given,), [x for x in arrays if isinstance(x, np.ndarray)]
        )
        ctx.mark_non_differentiable(*(output for output in outputs if not output.is_floating_point()))
        ctx.op, ctx.attributes = op, attributes
        ctx.places = [at for at, value in enumerate(inputs) if isinstance(value, torch.Tensor)]
        ctx.constants = [None if isinstance(value, torch.Tensor) else value for value in inputs]
        ctx.save_for_backward(*(inputs[at] for at in ctx.places), *outputs)
        return tuple(outputs) if op.num_outputs > 1 else outputs[0]

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Run the op's backward; what it gives cannot be differentiated again."""
        saved = ctx.saved_tensors
        given, outputs = saved[: len(ctx.places)], saved[len(ctx.places) :]
        inputs = list(ctx.constants)
        for at, tensor in zip(ctx.places, given, strict=True):
            inputs[at] = tensor
        with torch.no_grad():
            found = _gradients(ctx.op, inputs, outputs, grad_outputs, ctx.attributes)
        wanted = [
            tensor if needed else None for tensor, needed in zip(found, ctx.needs_input_grad[2:], strict=True)
        ]
        if torch.is_grad_enabled():
            wanted = _refuse_twice(ctx.op, wanted, (*given, *grad_outputs))
        return (None, None, *wanted)


class _Once(torch.autograd.Function):  # type: ignore[misc]
    """The gradients as they are; a backward through them says that there is none."""

    @staticmethod
    def forward(ctx: Any, op: Op, count: int, *tensors: Any) -> Any:
        """Return the first `count` tensors."""
        ctx.op = op
        return tuple(tensor.view_as(tensor) for tensor in tensors[:count])

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Refuse."""
        raise GradientError(
            f"operation {ctx.op.name!r} states its first derivative only; it cannot be differentiated twice"
        )


def _refuse_twice(op: Op, gradients: list[Any], depends: Sequence[Any]) -> list[Any]:
    present = [tensor for tensor in gradients if tensor is not None]
    if not present:
        return gradients
    marked = iter(_Once.apply(op, len(present), *present, *depends))
    return [None if tensor is None else next(marked) for tensor in gradients]


def _gradients(
    op: Op,
    inputs: Sequence[Any],
    outputs: Sequence[Any],
    grad_outputs: Sequence[Any],
    attributes: dict[str, Any],
) -> list[Any]:
    arrays = as_arrays(op, [_memory(x) if isinstance(x, torch.Tensor) else x for x in inputs])
    results, upstream = tuple(map(_memory, outputs)), tuple(map(_memory, grad_outputs))
    several = op.num_outputs > 1
    function = op.create_gradient_function(arrays, results if several else results[0], **attributes)
    gradients = function.gradients(upstream if several else upstream[0])
    wanted = [
        None if array.dtype.kind != "f" else gradient
        for gradient, array in zip(gradients, arrays, strict=True)
    ]
    return _tensors_of(wanted, [*arrays, *results, *upstream])


def _memory(tensor: Any) -> Array:
    array: Array = tensor.detach().numpy()
    return array


def _array_of(op: Op, at: int, tensor: Any) -> Array:
    """Return a tensor's own memory as an array.

    Raises:
        OpError: It is not on the CPU, not dense, or of a dtype that numpy lacks.
    """
    if tensor.device.type != "cpu":
        raise OpError(
            f"Operation {op.name!r} runs on the CPU, but input {at} is on {tensor.device}; .cpu() copies it there"
        )
    if tensor.layout != torch.strided:
        raise OpError(
            f"Operation {op.name!r} takes dense tensors; input {at} is {tensor.layout}: .to_dense()"
        )
    try:
        array: Array = tensor.detach().numpy()
    except (TypeError, RuntimeError) as error:
        raise OpError(
            f"Operation {op.name!r} takes the dtypes that numpy has; input {at} is {tensor.dtype}: .float() converts it"
        ) from error
    return array


def _tensors_of(arrays: Sequence[Any], others: Sequence[Array]) -> list[Any]:
    """Return arrays as tensors of the same memory, None as None.

    One whose memory is also another's is copied, because torch changes gradients in place; and one that torch cannot use.
    """
    taken = list(others)
    tensors: list[Any] = []
    for array in arrays:
        if array is None:
            tensors.append(None)
            continue
        own = np.asarray(array)
        usable = own.flags.writeable and all(stride >= 0 for stride in own.strides)
        if not usable or any(np.may_share_memory(own, other) for other in taken):
            own = own.copy(order="C")
        taken.append(own)
        tensors.append(torch.from_numpy(own))
    return tensors
