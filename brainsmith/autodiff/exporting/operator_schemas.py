"""What ONNX's own operators take: the dtypes of a node's tensors, held to the schemas of the onnx package."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from onnx import TensorProto, defs, helper

from brainsmith.errors import OpError

_MOST_COMMON = ("float", "double", "float16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32")


def check_dtypes(
    step: str, op_type: str, opset: int, inputs: Sequence[int | None], outputs: Sequence[int]
) -> None:
    """Raise if a standard operator does not take or give such tensors.

    Args:
        step: The operation that the node is of, for the message.
        op_type: The ONNX operator, of the standard domain.
        opset: The version of the operators.
        inputs: The element types (`TensorProto.DataType`) of its inputs; None for one that is left out.
        outputs: Those of its outputs.

    Raises:
        OpError: Names the step, the dtype, and what to do.
    """
    schema = defs.get_schema(op_type, opset, "")
    bound: dict[str, int] = {}
    for what, formals, given in (("input", schema.inputs, inputs), ("output", schema.outputs, outputs)):
        for at, kind in enumerate(given):
            if kind is None:
                continue
            formal = formals[min(at, len(formals) - 1)]
            if _text(kind) not in formal.types:
                raise OpError(_not_taken(step, op_type, what, at, kind, formal.types))
            if formal.is_homogeneous and bound.setdefault(formal.type_str, kind) != kind:
                raise OpError(
                    f"operation {step!r} with {_name(kind)} for {what} {at} beside {_name(bound[formal.type_str])} "
                    f"cannot be exported: ONNX's {op_type} needs one dtype for both; "
                    f"cast first: functional.cast(x, {_name(bound[formal.type_str])!r})"
                )


def _not_taken(step: str, op_type: str, what: str, at: int, kind: int, types: Any) -> str:
    known = [name for name in _MOST_COMMON if f"tensor({name})" in types]
    names = [_name(_kind(name)) for name in known] or ["bool"]
    verb = "takes" if what == "input" else "gives"
    return (
        f"operation {step!r} with {_name(kind)} for {what} {at} cannot be exported: ONNX's {op_type} {verb} "
        f"{', '.join(names)} there; cast first: functional.cast(x, {names[0]!r})"
    )


def _text(kind: int) -> str:
    """Return how schemas write a tensor of elements."""
    return f"tensor({TensorProto.DataType.Name(kind).lower()})"


def _name(kind: int) -> str:
    """Return numpy's name of an element type."""
    return str(helper.tensor_dtype_to_np_dtype(kind))


def _kind(text: str) -> int:
    return int(TensorProto.DataType.Value(text.upper()))
