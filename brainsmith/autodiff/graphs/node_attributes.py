"""An op's attributes in an ONNX node: how they are written there, and read back as the values that they were."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.autodiff.op import attributes_of
from brainsmith.errors import OpError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onnx import NodeProto

    from brainsmith.autodiff.op import Op

_FIELDS = ((bool, "i", int), (int, "i", int), (float, "f", float), (str, "s", str))
"""Python's kinds of values, ONNX's name for each, and what a value becomes on the way there."""


def attribute_types(op: Op, node: NodeProto | None = None) -> dict[str, tuple[Any, ...]]:
    """Return what QONNX wants to know of an op's attributes: field of the node's attribute, not required, default.

    An attribute whose default is None has the field that the node says, or `i`.

    Raises:
        OpError: A default is of a kind that a node cannot hold.
    """
    types: dict[str, tuple[Any, ...]] = {}
    stated = {} if node is None else {attribute.name: attribute for attribute in node.attribute}
    for name, default in op.attributes.items():
        if default is None or (isinstance(default, list | tuple) and not default):
            field = _field_of(_value(stated[name])) if name in stated else "i"
        else:
            field = _field(op, name, default)
        types[name] = (field, False, list(default) if isinstance(default, tuple) else default)
    return types


def to_node(op: Op, attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes of a call as a node holds them; those that are the op's defaults are left out.

    ONNX holds floats in 32 bits: about seven decimal digits.

    Raises:
        OpError: The op has no such attribute, or it is of a kind that a node cannot hold.
    """
    written: dict[str, Any] = {}
    for name, value in attributes_of(op, attributes).items():
        if not _same(value, op.attributes[name]):
            default = op.attributes[name]
            like = value if default is None or _is_empty(default) else default
            written[name] = _as_field(op, name, value, _field(op, name, like))
    return written


def from_node(op: Op, node: NodeProto) -> dict[str, Any]:
    """Return the attributes of a node's call: what it states, as the kind that the default is.

    Raises:
        OpError: The node states one that the op does not have.
    """
    stated = {attribute.name: _value(attribute) for attribute in node.attribute}
    merged = attributes_of(op, stated)
    return {name: _like(merged[name], op.attributes[name]) for name in merged}


def _value(attribute: Any) -> Any:
    from onnx import helper, numpy_helper

    value = helper.get_attribute_value(attribute)
    if isinstance(value, list | tuple):
        return [_plain(x) for x in value]
    return numpy_helper.to_array(value) if attribute.HasField("t") else _plain(value)


def _plain(value: Any) -> Any:
    """Return a text as such, and a float as the number that was meant: 0.1, not its nearest in 32 bits."""
    if isinstance(value, bytes):
        return value.decode()
    return float(str(np.float32(value))) if isinstance(value, float) else value


def _like(value: Any, default: Any) -> Any:
    """Return what a node holds as the kind that the op's default has."""
    if isinstance(default, bool):
        return bool(value)
    if isinstance(default, float) and isinstance(value, int):
        return float(value)
    if isinstance(default, tuple) and isinstance(value, list):
        return tuple(value)
    return value


def _field(op: Op, name: str, value: Any) -> str:
    field = _field_of(value)
    if not field:
        raise OpError(
            f"attribute {name!r} of operation {op.name!r} must be a number, a string, a list of one of them or an array "
            f"for a node to hold it, not {value!r}"
        )
    return field


def _field_of(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return "t"
    if isinstance(value, list | tuple):
        kinds = {_field_of(x) for x in value} or {"i"}
        if kinds == {"i", "f"}:
            kinds = {"f"}
        plural = {"i": "ints", "f": "floats", "s": "strings"}
        return plural.get(kinds.pop(), "") if len(kinds) == 1 else ""
    if isinstance(value, np.generic):
        value = value.item()
    return next((field for kind, field, _ in _FIELDS if isinstance(value, kind)), "")


def _as_field(op: Op, name: str, value: Any, field: str) -> Any:
    """Return a value as what a field holds: 2 as 2.0 in one of floats."""
    kinds = {field: kind for _, field, kind in _FIELDS}
    try:
        if field == "t":
            return np.asarray(value)
        if field in kinds:
            return _within(op, name, kinds[field](value))
        return [_within(op, name, kinds[field[0]](x)) for x in value]
    except OpError:
        raise
    except (TypeError, ValueError) as error:
        raise OpError(
            f"attribute {name!r} of operation {op.name!r} must be like its default "
            f"{op.attributes[name]!r}, not {value!r}"
        ) from error


def _within(op: Op, name: str, value: Any) -> Any:
    """Return a value unless ONNX's 32 bits would make infinity of a float, or its 64 cannot hold an integer."""
    beyond = False
    if isinstance(value, float):
        beyond = bool(np.isfinite(value)) and abs(value) > float(np.finfo(np.float32).max)
    elif isinstance(value, int):
        beyond = not -(2**63) <= value < 2**63
    if beyond:
        raise OpError(
            f"attribute {name!r} of operation {op.name!r} must be what a node can hold (floats of 32 bits, integers of "
            f"64), not {value!r}"
        )
    return value


def _is_empty(value: Any) -> bool:
    return isinstance(value, list | tuple) and not value


def _same(value: Any, default: Any) -> bool:
    if isinstance(value, np.ndarray) or isinstance(default, np.ndarray):
        return bool(np.array_equal(value, default))
    return type(value) is type(default) and bool(value == default)
