"""What a graph declares of its tensors: QONNX wants one declaration of each, and ONNX allows several that agree."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


def declaration_faults(graph: Any) -> Iterator[str]:
    """Yield what is listed twice, and declarations of one tensor that contradict each other."""
    inputs, outputs, constants = (
        [entry.name for entry in entries] for entries in (graph.input, graph.output, graph.initializer)
    )
    for what, names in (("input", inputs), ("output", outputs), ("constant", constants)):
        yield from (
            f"the {what} '{name}' is listed twice" for name, count in Counter(names).items() if count > 1
        )
    for name in set(inputs).intersection(outputs):
        yield f"the output '{name}' is an input, too, of which a node must make a copy (Identity)"
    yield from _contradicting_types(graph)
    yield from _contradicting_annotations(graph)


def declare_once(graph: Any) -> None:
    """Leave of several declarations of a tensor the first one; inputs and outputs come before inner tensors.

    The graph has no `declaration_faults`.
    """
    declared = {value.name for value in (*graph.input, *graph.output)}
    _keep_first(graph.value_info, declared)
    first: dict[str, Any] = {}
    for annotation in graph.quantization_annotation:
        kept = first.setdefault(annotation.tensor_name, annotation)
        if kept is not annotation:
            present = {entry.key for entry in kept.quant_parameter_tensor_names}
            further = [e for e in annotation.quant_parameter_tensor_names if e.key not in present]
            kept.quant_parameter_tensor_names.extend(further)
    if len(first) < len(graph.quantization_annotation):
        merged = list(first.values())
        del graph.quantization_annotation[:]
        graph.quantization_annotation.extend(merged)


def _keep_first(values: Any, declared: set[str]) -> None:
    kept = []
    for value in values:
        if value.name not in declared:
            declared.add(value.name)
            kept.append(value)
    if len(kept) < len(values):
        del values[:]
        values.extend(kept)


def _contradicting_types(graph: Any) -> Iterator[str]:
    first: dict[str, Any] = {}
    for value in (*graph.input, *graph.output, *graph.value_info):
        one, other = first.setdefault(value.name, value).type.tensor_type, value.type.tensor_type
        if one is other:
            continue
        if one.elem_type and other.elem_type and one.elem_type != other.elem_type:
            yield f"tensor '{value.name}' is declared with two element types"
        if not (one.HasField("shape") and other.HasField("shape")):
            continue
        shapes = [[dim.dim_value or dim.dim_param or "?" for dim in each.shape.dim] for each in (one, other)]
        if len(shapes[0]) != len(shapes[1]) or any(map(_differ, *shapes)):
            yield f"tensor '{value.name}' is declared with two shapes, {_text(shapes[0])} and {_text(shapes[1])}"


def _differ(one: int | str, other: int | str) -> bool:
    return isinstance(one, int) and isinstance(other, int) and one != other


def _text(shape: list[int | str]) -> str:
    return f"[{', '.join(map(str, shape))}]"


def _contradicting_annotations(graph: Any) -> Iterator[str]:
    first: dict[tuple[str, str], str] = {}
    for annotation in graph.quantization_annotation:
        for entry in annotation.quant_parameter_tensor_names:
            said = first.setdefault((annotation.tensor_name, entry.key), entry.value)
            if said != entry.value:
                yield f"tensor '{annotation.tensor_name}' is annotated with {entry.key} = '{said}' and '{entry.value}'"
