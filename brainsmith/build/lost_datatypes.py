"""Which datatypes a graph has lost, whatever its tensors and nodes are called now.

An output's datatype is lost where it follows from the node and its inputs and the graph lacks it, unless it was lacking
before. A constant is the same if its values are; an input if its place, its shape and its readers are.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from onnx import numpy_helper

from brainsmith.build.tensor_facts import TensorFacts, following

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from onnx import TensorProto
    from qonnx.core.modelwrapper import ModelWrapper


def lost_inputs(before: TensorFacts, after: TensorFacts) -> dict[str, str]:
    """Return the datatypes of the graph's inputs that lack the one they had: it follows from nothing."""
    then, now = before.inputs(), after.inputs()
    named = {value.name: value for value in then}
    lost = {}
    for at, value in enumerate(now):
        same = named.get(value.name)
        if same is None and len(now) == len(then) and then[at].place == value.place:
            same = then[at]
        if same is not None and same.datatype and not value.datatype:
            lost[value.name] = same.datatype
    return lost


def lost_constants(before: TensorFacts, after: TensorFacts) -> dict[str, str]:
    """Return the datatypes of constants that lack the one that the same values had.

    Where several constants hold the same values, as many lost it as there are more without it and fewer with it.
    """
    kinds = {_kind(tensor) for name, tensor in before.constants.items() if name in before.datatypes}
    had, had_not = _by_values(before, kinds)
    have, have_not = _by_values(after, kinds)
    lost = {}
    for values, names in have_not.items():
        fewer = len(had.get(values, ())) - len(have.get(values, ()))
        lacked = set(had_not.get(values, ()))
        more = len(names) - len(lacked)
        changed = sorted(names, key=lacked.__contains__)
        for name in changed[: max(min(fewer, more), 0)]:
            lost[name] = before.datatypes[had[values][0]]
    return lost


def _kind(tensor: TensorProto) -> tuple[int, tuple[int, ...]]:
    return tensor.data_type, tuple(tensor.dims)


def _by_values(
    facts: TensorFacts, kinds: Collection[Any]
) -> tuple[dict[Any, list[str]], dict[Any, list[str]]]:
    """Sort constants of some kinds by their values: those with a datatype, and those without."""
    having: dict[Any, list[str]] = {}
    lacking: dict[Any, list[str]] = {}
    for name, tensor in facts.constants.items():
        if (kind := _kind(tensor)) in kinds:
            values = (kind, numpy_helper.to_array(tensor).tobytes())
            (having if name in facts.datatypes else lacking).setdefault(values, []).append(name)
    return having, lacking


def not_lacking(found: Mapping[str, str], after: TensorFacts, given: ModelWrapper) -> dict[str, str]:
    """Return those datatypes that the graph did not lack before: neither the tensor of this name, nor a node of this kind.

    Args:
        found: Datatypes that follow from nodes and their inputs, and that the graph lacks now.
        after: What is known of it.
        given: The model before.
    """
    complete = TensorFacts(given.graph)
    old, _ = following(given, complete)
    lacked = _givers(old, complete)
    lacks = _givers(found, after)
    for name in [name for name, node in lacks.items() if name in lacked]:
        if lacks[name].op_type == lacked[name].op_type:
            del lacks[name], lacked[name]
    spare = Counter(complete.form(node) for node in lacked.values())
    lost = {}
    for name, node in lacks.items():
        form = after.form(node)
        if spare[form] > 0:
            spare[form] -= 1
        else:
            lost[name] = found[name]
    return lost


def _givers(names: Collection[str], facts: TensorFacts) -> dict[str, Any]:
    return {name: node for node in facts.nodes for name in node.output if name in names}


def lost_without_rule(floats: Sequence[Any], before: TensorFacts, after: TensorFacts) -> dict[str, str]:
    """Find lost datatypes that do not follow from QONNX's rules.

    Of each kind of node with inputs of the same datatypes, as many lost one as there are more without and fewer with one.

    Args:
        floats: Nodes of the graph whose outputs are floats by these rules.
        before: What was known.
        after: What is.

    Returns:
        The tensors, with the datatypes that nodes of this kind gave.
    """
    kinds = {node.op_type for node in floats}
    had, had_not = _by_form(before, kinds)
    have, have_not = _by_form(after, kinds)
    lost: dict[str, str] = {}
    for form, outputs in have_not.items():
        count = min(
            len(had.get(form, ())) - len(have.get(form, ())), len(outputs) - len(had_not.get(form, ()))
        )
        if count > 0:
            having = set(had[form])
            outputs.sort(key=lambda name: name not in having)
            lost |= dict.fromkeys(outputs[:count], before.datatypes[had[form][0]])
    return lost


def _by_form(facts: TensorFacts, kinds: Iterable[str]) -> tuple[dict[Any, list[str]], dict[Any, list[str]]]:
    having: dict[Any, list[str]] = {}
    lacking: dict[Any, list[str]] = {}
    for node in facts.nodes:
        if node.op_type in kinds and node.output:
            name = node.output[0]
            (having if name in facts.datatypes else lacking).setdefault(facts.form(node), []).append(name)
    return having, lacking
