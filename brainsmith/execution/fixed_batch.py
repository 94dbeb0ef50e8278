"""Models whose batch is open, as PyTorch exports them: one run of such a model is one sample."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brainsmith.errors import BuildError
from brainsmith.graph.ends import input_values

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qonnx.core.modelwrapper import ModelWrapper


def fix_batch(model: ModelWrapper) -> bool:
    """Make the first axes of inputs 1 where the model leaves them open.

    Args:
        model: Changed. Shapes that are open elsewhere are forgotten, to be inferred.

    Returns:
        Whether an input's was open.

    Raises:
        BuildError: Another axis of an input is open.
    """
    graph = model.graph
    inputs = input_values(graph)
    if not any(map(_open_dims, inputs)):
        return False
    batches = set()
    for value in inputs:
        first = next(iter(_dims(value)), None)
        if first is not None and _is_open(first):
            batches.add(first.dim_param)
            first.dim_value = 1
    for value in (*graph.input, *graph.output, *graph.value_info):
        for dim in _open_dims(value):
            if dim.dim_param and dim.dim_param in batches:
                dim.dim_value = 1
    _refuse_others(inputs)
    kept = [value for value in graph.value_info if not _open_dims(value)]
    del graph.value_info[:]
    graph.value_info.extend(kept)
    for value in graph.output:
        if _open_dims(value):
            value.type.tensor_type.ClearField("shape")
    return True


def _refuse_others(inputs: Iterable[Any]) -> None:
    for value in inputs:
        if _open_dims(value):
            sizes = ", ".join(str(dim.dim_param or dim.dim_value or "?") for dim in _dims(value))
            raise BuildError(
                f"input '{value.name}' must have a stated size in every axis but the first, not ({sizes}); "
                "state them when the model is exported"
            )


def _dims(value: Any) -> Any:
    return value.type.tensor_type.shape.dim


def _open_dims(value: Any) -> list[Any]:
    return [dim for dim in _dims(value) if _is_open(dim)]


def _is_open(dim: Any) -> bool:
    """Tell whether a size is not stated; some exporters write 0 for that."""
    return not dim.HasField("dim_value") or dim.dim_value <= 0
