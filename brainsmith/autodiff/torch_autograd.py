"""The function of torch.autograd that runs an op; imported only where torch is there and asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import torch

from brainsmith.autodiff.calls import as_arrays, call_op
from brainsmith.autodiff.op import Array, Arrays, Op, attributes_of, operation_error
from brainsmith.errors import GradientError, OpError


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
    def forward(op: Op, attributes: dict[str, Any], *inputs: Any) -> Any:
        """Run the op's forward on the memory of the tensors."""
        arrays = [_array_of(op, at, value) for at, value in enumerate(inputs)]
        given = call_op(op, arrays, attributes)
        outputs = _tensors_of(
            given if op.num_outputs > 1 else (given,), [x for x in arrays if isinstance(x, np.ndarray)]
        )
        return tuple(outputs) if op.num_outputs > 1 else outputs[0]

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Keep what backward needs; torch notices if it is changed before."""
        ctx.op, ctx.attributes, *given = inputs
        outputs = output if isinstance(output, tuple) else (output,)
        ctx.mark_non_differentiable(*(x for x in outputs if not x.is_floating_point()))
        ctx.places = [at for at, value in enumerate(given) if isinstance(value, torch.Tensor)]
        ctx.constants = [None if isinstance(value, torch.Tensor) else value for value in given]
        ctx.save_for_backward(*(given[at] for at in ctx.places), *outputs)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Run the op's backward."""
        inputs, saved = list(ctx.constants), ctx.saved_tensors
        for at, tensor in zip(ctx.places, saved, strict=False):
            inputs[at] = tensor
        needed = ctx.needs_input_grad[2:]
        wanted = [at for at in range(len(inputs)) if needed[at] and at not in ctx.op.not_differentiable]
        gradients: list[Any] = [None] * len(inputs)
        if wanted:
            values = (*inputs, *saved[len(ctx.places) :], *grad_outputs)
            for at, gradient in zip(
                wanted, _Gradients.apply(ctx.op, ctx.attributes, wanted, *values), strict=True
            ):
                gradients[at] = gradient
        return (None, None, *gradients)


class _Gradients(torch.autograd.Function):  # type: ignore[misc]
    """The gradients of one call; a backward through them says that there is none."""

    @staticmethod
    def forward(op: Op, attributes: dict[str, Any], wanted: Sequence[int], *values: Any) -> Any:
        """Run the op's backward on inputs, outputs and the gradients of the outputs."""
        memory = [value.numpy() if isinstance(value, torch.Tensor) else value for value in values]
        arrays = as_arrays(op, memory[: op.num_inputs])
        rest = memory[op.num_inputs :]
        outputs, upstream = tuple(rest[: op.num_outputs]), tuple(rest[op.num_outputs :])
        several = op.num_outputs > 1
        function = op.create_gradient_function(arrays, outputs if several else outputs[0], **attributes)
        needed = [at in wanted for at in range(op.num_inputs)]
        gradients = function.gradients(upstream if several else upstream[0], needed)
        return tuple(_tensors_of([gradients[at] for at in wanted], [*arrays, *outputs, *upstream]))

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Keep the op's name."""
        ctx.op = inputs[0]

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Refuse."""
        raise GradientError(
            f"operation {ctx.op.name!r} states its first derivative only; it cannot be differentiated twice"
        )


def _array_of(op: Op, at: int, tensor: Any) -> Any:
    """Return a tensor's own memory as an array; any other value as it is.

    Raises:
        OpError: It is not on the CPU, not dense, of a dtype that numpy lacks, or a Tensor of this package's tape.
    """
    if getattr(tensor, "is_tape_tensor", False):
        raise OpError(
            f"torch runs operation {op.name!r} on torch's tensors, but input {at} is a Tensor of brainsmith's tape, whose "
            "gradient would be lost; .numpy() makes a constant of it"
        )
    if not isinstance(tensor, torch.Tensor):
        return tensor
    if tensor.device.type != "cpu":
        raise operation_error(op, f"runs on the CPU, but input {at} is on {tensor.device}: use .cpu()")
    if tensor.layout != torch.strided:
        raise operation_error(op, f"takes dense tensors; input {at} is {tensor.layout}: .to_dense()")
    try:
        array: Array = tensor.detach().numpy()
    except (TypeError, RuntimeError) as error:
        raise operation_error(
            op, f"supports the dtypes that numpy has only; input {at} is {tensor.dtype}: .float() converts it"
        ) from error
    return array


def _tensors_of(arrays: Sequence[Any], others: Arrays) -> list[Any]:
    """Return arrays as tensors of the same memory.

    One whose memory is also another's is copied, because torch changes gradients in place; and one that torch cannot use.
    """
    taken = list(others)
    tensors: list[Any] = []
    for array in arrays:
        own = np.asarray(array)
        usable = own.flags.writeable and all(stride >= 0 for stride in own.strides)
        if not usable or any(np.may_share_memory(own, other) for other in taken):
            own = own.copy(order="C")
        taken.append(own)
        tensors.append(torch.from_numpy(own))
    return tensors
