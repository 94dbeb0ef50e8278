"""Ops in torch: `ops.torch_apply("swish", [x])` takes part in torch.autograd. Nothing here imports torch before it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brainsmith.errors import FrameworkUnavailableError, OpError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from brainsmith.autodiff.op import Op


def as_torch_function(op: str | Op | type[Op]) -> Any:
    """Return an op as a subclass of torch.autograd.Function: `function.apply(*tensors, **attributes)`.

    Its forward and backward are the op's own, on the memory of the tensors. A backward through its backward is refused:
    the op states first derivatives only.

    Args:
        op: An op, its name or its class.

    Raises:
        FrameworkUnavailableError: torch is not installed.
    """
    base = _autograd().OpFunction
    found = _as_op(op)
    return type(found.name, (base,), {"op": found, "__doc__": type(found).__doc__, "__module__": __name__})


def torch_apply(name: str | Op, tensors: Sequence[Any], **attributes: Any) -> Any:
    """Run an op on torch's tensors, so that torch.autograd differentiates it.

    Args:
        name: The op, or its name.
        tensors: Its inputs: tensors on the CPU of any dtype that numpy has; numbers and arrays among them are constants.
        **attributes: Those of the call.

    Returns:
        A tensor, or a tuple of them for an op with several outputs.

    Raises:
        FrameworkUnavailableError: torch is not installed.
        OpError: The inputs are not what the op takes, or not on the CPU.
    """
    return _autograd().run(_as_op(name), tuple(tensors), attributes)


def _autograd() -> Any:
    try:
        import torch  # noqa: F401
    except ImportError as error:
        raise FrameworkUnavailableError(
            f"torch is not installed, so no op can be run in torch.autograd: pip install torch ({error})"
        ) from error
    from brainsmith.autodiff import torch_autograd

    return torch_autograd


def _as_op(op: Any) -> Op:
    from brainsmith.autodiff.calls import as_op
    from brainsmith.autodiff.op import Op

    found = as_op(op)
    if not isinstance(found, Op):
        raise OpError(f"torch runs an op, its name or its class, not {op!r}")
    return found
