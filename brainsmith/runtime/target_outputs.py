"""Whether what a target returned is what it stated."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from brainsmith.execution.signature import ModelSignature, TensorSpec


def wrong_outputs(signature: ModelSignature, result: Any, runs: int, keep: Iterable[str] | None = ()) -> str:
    """Return what is wrong with the outputs of a model, as the end of a sentence that begins with "must"; or nothing.

    Of tensors inside the model, which `keep` names, only is known that they are arrays. An axis whose size the
    signature does not state (0, or no number) may have any.

    Args:
        signature: The model's.
        result: What was returned.
        runs: How many the inputs held.
        keep: The further tensors that were asked for; None for all.
    """
    if keep == () and _are_just_as_stated(signature, result, runs):
        return ""
    if not isinstance(result, Mapping):
        expected = ", ".join(_described(spec, runs) for spec in signature.outputs) or "nothing"
        return f"return its outputs by name, {expected}, not {_kind(result)}"
    for spec in signature.outputs:
        if spec.name not in result:
            return f"return output {_described(spec, runs)}; it returned {_names(result)}"
        if not _is_array(result[spec.name]) or not _fits(spec, result[spec.name], runs):
            return f"return output {_described(spec, runs)}, not {_kind(result[spec.name])}"
    return _wrong_kept(signature, result, keep)


def _are_just_as_stated(signature: ModelSignature, result: Any, runs: int) -> bool:
    """Return whether it is exactly as stated, as nearly always; takes a microsecond or two, because calls are frequent."""
    if type(result) is not dict or len(result) != len(signature.outputs):
        return False
    for spec in signature.outputs:
        array, shape = result.get(spec.name), spec.shape
        if type(array) is not np.ndarray or array.dtype != spec.dtype:
            return False
        if array.shape != ((runs * shape[0], *shape[1:]) if shape else (runs,)):
            return False
    return True


def _wrong_kept(signature: ModelSignature, result: Mapping[str, Any], keep: Iterable[str] | None) -> str:
    """Return what is wrong with the further tensors; inputs that were asked for may be left out."""
    outputs = {spec.name for spec in signature.outputs}
    further = [name for name in result if name not in outputs]
    if keep is not None:
        asked = tuple(keep)
        inputs = {spec.name for spec in signature.inputs}
        if missing := [name for name in asked if name not in result and name not in inputs]:
            return f"return tensor {missing[0]!r}, which keep= names; it returned {_names(result)}"
        if unasked := [name for name in further if name not in asked]:
            wanted = dict.fromkeys((*(spec.name for spec in signature.outputs), *asked))
            return f"return {_names(wanted)} and nothing else; it returned {unasked[0]!r} too"
    for name in further:
        if not _is_array(result[name]):
            return f"return tensor {name!r} as an array, not {_kind(result[name])}"
    return ""


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray) and not value.dtype.hasobject


def _shape(spec: TensorSpec, runs: int) -> tuple[Any, ...]:
    """Return the shape that some runs have together."""
    first = spec.shape[0] if spec.shape else 1
    return (runs * first if _stated(first) else first, *spec.shape[1:])


def _stated(size: Any) -> bool:
    return isinstance(size, int) and size > 0


def _fits(spec: TensorSpec, array: np.ndarray[Any, Any], runs: int) -> bool:
    expected = _shape(spec, runs)
    if array.dtype != np.dtype(spec.dtype) or len(expected) != array.ndim:
        return False
    if not array.size and 0 in spec.shape:  # of nothing, runs cannot be counted
        return True
    return all(not _stated(size) or size == given for size, given in zip(expected, array.shape, strict=True))


def _described(spec: TensorSpec, runs: int) -> str:
    return f"'{spec.name}' {spec.dtype} {_text(_shape(spec, runs))}"


def _kind(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {_text(value.shape)}"
    return "None" if value is None else type(value).__name__


def _names(result: Iterable[str]) -> str:
    return ", ".join(map(repr, result)) or "nothing"


def _text(shape: tuple[Any, ...]) -> str:
    return "(" + ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"
