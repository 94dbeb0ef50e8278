"""Call an op: inputs are checked, and outputs are checked against the op's own rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from brainsmith.autodiff.op import (
    CPU,
    Array,
    Arrays,
    Dtypes,
    Op,
    Shape,
    Shapes,
    attributes_of,
    failure,
    operation_error,
)
from brainsmith.errors import BrainsmithError, OpError
from brainsmith.figures import plural


def as_op(op: Any) -> Any:
    """Return the op that a name or a class of ops means; anything else as it is.

    Raises:
        PluginNotFoundError: No op has this name.
    """
    if isinstance(op, str):
        from brainsmith.autodiff.op_registry import get_custom_op

        return get_custom_op(op)
    if isinstance(op, type) and issubclass(op, Op):
        made = op()
        made.name = made.name or op.__name__
        return made
    return op


def call_op(op: Op, inputs: Sequence[Any], attributes: Mapping[str, Any] | None = None) -> Any:
    """Run an op's forward on arrays, numbers or nested lists.

    Python numbers and lists take the dtype of the first array among the inputs, float32 where there is none and for
    fractions beside integers. Arrays of other packages keep their own.

    Returns:
        The output, or a tuple of them.

    Raises:
        OpError: Wrong count, dtype, shape or attribute; or the op gave what its rules do not say.
    """
    if op.call is not None:  # it checks all that is checked below, in less time
        return op.call(inputs, attributes or {})
    arrays = as_arrays(op, inputs)
    merged = attributes_of(op, attributes or {})
    check_inputs(op, arrays, merged)
    return run_forward(op, arrays, merged)


def run_op(op: Op, inputs: Sequence[Any], attributes: Mapping[str, Any] | None = None) -> Any:
    """Run an op: on the tape if a Tensor is among the inputs, else on arrays as `call_op` does."""
    for value in inputs:
        if getattr(value, "is_tape_tensor", False):
            return value.apply(op, inputs, attributes or {})
    return call_op(op, inputs, attributes)


def as_arrays(op: Op, inputs: Sequence[Any]) -> list[Array]:
    """Return the inputs of a call as arrays.

    Raises:
        OpError: Their count is wrong, or one holds no numbers.
    """
    if len(inputs) != op.num_inputs:
        raise operation_error(op, f"expects {plural(op.num_inputs, 'input')}, got {len(inputs)}")
    arrays: list[Any] = []
    bare = []
    for at, value in enumerate(inputs):
        array = value if isinstance(value, np.ndarray) else _own_array(op, at, value)
        if array is None:
            bare.append(at)
        elif array.dtype.kind not in "fiub":
            raise operation_error(op, f"expects numbers, got {array.dtype} for input {at}")
        arrays.append(array)
    if bare:
        dtype = next((array.dtype for array in arrays if array is not None), np.dtype(np.float32))
        for at in bare:
            arrays[at] = _as_array(op, at, inputs[at], dtype)
    return arrays


def _own_array(op: Op, at: int, value: Any) -> Array | None:
    """Return an input as an array of its own dtype; None if numpy does not know its dtype, as of numbers and lists."""
    if isinstance(value, np.generic):
        return np.asarray(value)
    device = str(getattr(value, "device", CPU))
    if CPU not in device.lower():  # others call it "cpu:0", "TFRT_CPU_0"
        raise operation_error(op, f"expects inputs on device 'cpu', got {device!r} for input {at}")
    if not (hasattr(value, "__array__") or hasattr(value, "dtype")):
        return None
    try:
        array = np.asarray(value)
    except (TypeError, ValueError, RuntimeError) as error:
        raise _no_array(op, at, value, error) from error
    return None if array.dtype.kind in "OV" else array


def _as_array(op: Op, at: int, value: Any, dtype: np.dtype[Any]) -> Array:
    if value is None:  # numpy would make it NaN
        raise operation_error(op, f"expects an array for input {at}, got None")
    if holds_tensor(value):
        raise operation_error(
            op,
            f"expects an array for input {at}, got a list of Tensors, which would lose their "
            "gradients; functional.stack makes one Tensor of them",
        )
    try:
        # A fraction beside integers would be cut off.
        whole = dtype.kind == "f" or np.asarray(value).dtype.kind != "f"
        return np.asarray(value, dtype if whole else np.float32)
    except (TypeError, ValueError, RuntimeError) as error:
        raise _no_array(op, at, value, error) from error


def _no_array(op: Op, at: int, value: Any, error: Exception) -> OpError:
    kind = type(value).__name__
    return operation_error(op, f"expects an array for input {at}, got {kind}: {error}")


def holds_tensor(value: Any) -> bool:
    """Tell whether a list or tuple has a Tensor in it, at any depth."""
    if isinstance(value, list | tuple):
        return any(getattr(part, "is_tape_tensor", False) or holds_tensor(part) for part in value)
    return False


def check_inputs(op: Op, arrays: Arrays, attributes: Mapping[str, Any]) -> None:
    """Have the op validate its inputs; what it raises becomes an OpError that names it.

    A ValueError refuses the inputs; anything else is a mistake in the op's own code, and is called that.
    """
    try:
        op.validate_inputs(arrays, **attributes)
    except BrainsmithError:
        raise
    except ValueError as error:
        raise operation_error(op, f"does not take these inputs: {error}") from error
    except Exception as error:  # a callback of the user's can raise anything, and the op is to be named
        what = failure([x.shape for x in arrays], error)
        raise OpError(f"validate of operation {op.name!r} {what}") from error


def run_forward(op: Op, arrays: Arrays, attributes: Mapping[str, Any]) -> Any:
    """Run forward, and hold its result to the op's rules of shape and dtype.

    A crash of the process in which a native op runs stays a PluginCrashError; what is no error of this package becomes
    an OpError that names the op.
    """
    try:
        given = op.forward(*arrays, **attributes)
    except BrainsmithError:
        raise
    except Exception as error:  # forward is the user's code: whatever it raises names the op
        raise operation_error(op, failure([x.shape for x in arrays], error)) from error
    if op.trusted and op.num_outputs == 1:
        return given if isinstance(given, np.ndarray) else np.asarray(given)
    outputs = given if op.num_outputs > 1 else (given,)
    if not isinstance(outputs, tuple | list) or len(outputs) != op.num_outputs:
        raise operation_error(op, f"must return {plural(op.num_outputs, 'output')}, not {_count(outputs)}")
    shapes, dtypes = promised(op, [x.shape for x in arrays], [x.dtype for x in arrays], attributes)
    checked = tuple(
        _checked(op, at, value, shape, dtype)
        for at, (value, shape, dtype) in enumerate(zip(outputs, shapes, dtypes, strict=True))
    )
    return checked if op.num_outputs > 1 else checked[0]


def promised(
    op: Op, shapes: Shapes, dtypes: Dtypes, attributes: Mapping[str, Any]
) -> tuple[tuple[Shape, ...], tuple[np.dtype[Any], ...]]:
    """Return the shapes and the dtypes that an op's rules say for those of its inputs, one for each output.

    Raises:
        OpError: A rule fails or gives an invalid result, or promises an output on a device where no array is.
    """
    try:
        device = op.output_device((CPU,) * len(shapes), **attributes)
        made = op.output_shape(shapes, **attributes)
        kind = op.output_dtype(dtypes, **attributes)
    except BrainsmithError:
        raise
    except Exception as error:  # rules are the user's code: whatever they raise names the op
        raise operation_error(op, failure(shapes, error)) from error
    if op.num_outputs == 1:
        _expect_here(op, device)
        return (_shape(op, made),), (_dtype(op, kind),)
    for one in _each(op, device):
        _expect_here(op, one)
    return (
        tuple(_shape(op, one) for one in _each(op, made)),
        tuple(_dtype(op, one) for one in _each(op, kind)),
    )


def _expect_here(op: Op, device: Any) -> None:
    if device != CPU:
        raise operation_error(op, f"states for its output the device {device!r}; arrays here are on 'cpu'")


def _each(op: Op, answer: Any) -> Sequence[Any]:
    if not isinstance(answer, tuple | list) or len(answer) != op.num_outputs:
        raise OpError(
            f"the rules of operation {op.name!r} must return {plural(op.num_outputs, 'result')}, one for each output, "
            f"not {answer!r}"
        )
    return answer


def _shape(op: Op, shape: Any) -> Shape:
    if not isinstance(shape, tuple | list):
        raise OpError(f"output_shape of operation {op.name!r} must return a shape, a tuple, not {shape!r}")
    return shape if type(shape) is tuple else tuple(shape)


def _dtype(op: Op, kind: Any) -> np.dtype[Any]:
    if isinstance(kind, np.dtype):
        return kind
    try:
        if kind is not None:  # numpy takes that for float64
            made: np.dtype[Any] = np.dtype(kind)
            return made
    except TypeError:
        pass
    raise OpError(f"output_dtype of operation {op.name!r} must return a dtype of numpy, not {kind!r}")


def _checked(op: Op, at: int, value: Any, shape: Shape, dtype: np.dtype[Any]) -> Array:
    which = f"output {at}" if op.num_outputs > 1 else "an output"
    if value is None:
        raise operation_error(op, f"returned None, not {which}")
    array = np.asarray(value)
    if array.dtype.kind not in "fiub":
        raise operation_error(op, f"returned {which} of {array.dtype}; its rule says {dtype}")
    if array.shape != shape:
        raise operation_error(op, f"returned {which} of shape {array.shape}; its rule says {shape}")
    return array if array.dtype == dtype else array.astype(dtype)


def _count(outputs: Any) -> Any:
    return len(outputs) if isinstance(outputs, tuple | list) else type(outputs).__name__
