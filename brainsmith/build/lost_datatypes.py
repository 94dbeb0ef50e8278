"""Which datatypes a graph has lost, whatever its tensors and nodes are called now.

An output's datatype is lost where it follows from the node and its inputs and the graph lacks it, unless it was lacking
before. A constant is the same if its values are; an input if its place, its shape and its readers are; an output if the
operators that compute it are, and what they read.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from onnx import numpy_helper

from brainsmith.build.tensor_facts import TensorFacts, following

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from onnx import TensorProto
    from qonnx.core.modelwrapper import ModelWrapper

    Alike = dict[Any, dict[str, str]]


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
    """Return the datatypes of constants that lack the one that the same values had."""
    kinds = {_kind(tensor) for name, tensor in before.constants.items() if name in before.datatypes}
    return _lost_of_alike(_by_values(before, kinds), _by_values(after, kinds))


def _lost_of_alike(before: Alike, after: Alike) -> dict[str, str]:
    """Return what lost which datatype, where things look alike.

    As many lost one as there are more without one, and fewer with one.

    Args:
        before: The names of what looked alike, each with its datatype, empty for none; in the order of the graph.
        after: The same of what there is now.
    """
    lost: dict[str, str] = {}
    for what, now in after.items():
        then = before.get(what, {})
        lacking = [name for name, datatype in now.items() if not datatype]
        lacked = sum(not datatype for datatype in then.values())
        fewer = (len(then) - lacked) - (len(now) - len(lacking))
        if (count := min(fewer, len(lacking) - lacked)) > 0:
            lost |= _chosen(then, now, lacking, count)
    return lost


def _chosen(
    then: Mapping[str, str], now: Mapping[str, str], lacking: list[str], count: int
) -> dict[str, str]:
    """Choose what lost which datatype: first by the name, then by the place between those that have what they had."""
    named = {name: then[name] for name in lacking if then.get(name)}
    placed = {}
    rest = iter(then.values())
    for name, datatype in now.items():
        had = next((each for each in rest if not datatype or each == datatype), "")
        if had and not datatype:
            placed[name] = had
    some = next(filter(None, then.values()))
    found = dict.fromkeys(lacking, some) | placed | named
    lacking.sort(key=lambda name: (name not in named, name not in placed))
    return {name: found[name] for name in lacking[:count]}


def _kind(tensor: TensorProto) -> tuple[int, tuple[int, ...]]:
    return tensor.data_type, tuple(tensor.dims)


def _by_values(facts: TensorFacts, kinds: Collection[Any]) -> Alike:
    """Sort constants of some kinds by their values."""
    found: Alike = {}
    for name, tensor in facts.constants.items():
        if (kind := _kind(tensor)) in kinds:
            values = (kind, numpy_helper.to_array(tensor).tobytes())
            found.setdefault(values, {})[name] = facts.datatypes.get(name, "")
    return found


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

    What is computed as before is the same tensor, whatever its name is. Of the others, those count that look alike: with
    inputs of the same datatypes.

    Args:
        floats: Nodes of the graph whose outputs are floats by these rules.
        before: What was known.
        after: What is.

    Returns:
        The tensors, with the datatypes that they or nodes of this kind gave.
    """
    kinds = {node.op_type for node in floats}
    then = _by_form(before, kinds)
    if not any(datatype for alike in then.values() for datatype in alike.values()):
        return {}
    return _lost_of_same_origin(floats, before, after) or _lost_of_alike(then, _by_form(after, kinds))


def _lost_of_same_origin(floats: Sequence[Any], before: TensorFacts, after: TensorFacts) -> dict[str, str]:
    """Return what lacks a datatype of these nodes' outputs where all that were computed in the same way had that one."""
    numbers: dict[Any, int] = {}
    had: dict[int, set[str]] = {}
    for name, number in _origins(before, numbers).items():
        had.setdefault(number, set()).add(before.datatypes.get(name, ""))
    now = _origins(after, numbers)
    lost = {}
    for name in [name for node in floats for name in node.output if name and name not in after.datatypes]:
        datatypes = had.get(now.get(name, -1), {""})
        if len(datatypes) == 1 and "" not in datatypes:
            (lost[name],) = datatypes
    return lost


def _origins(facts: TensorFacts, numbers: dict[Any, int]) -> dict[str, int]:
    """Number tensors by how they are computed of inputs and constants; what stands before its inputs has no number.

    Args:
        facts: Of a graph.
        numbers: The numbers of another graph, to which new ones are added.
    """
    found = {"": -1}
    for at, value in enumerate(facts.inputs()):
        found[value.name] = numbers.setdefault(at, len(numbers))
    for name, tensor in facts.constants.items():
        values = (_kind(tensor), numpy_helper.to_array(tensor).tobytes())
        found[name] = numbers.setdefault(values, len(numbers))
    for node, reads, gives in zip(facts.nodes, facts.reads, facts.gives, strict=True):
        if all(name in found for name in reads):
            origin = (*facts.form(node)[:3], *[found[name] for name in reads])
            for at, name in enumerate(gives):
                found[name] = numbers.setdefault((origin, at), len(numbers))
    return found


def _by_form(facts: TensorFacts, kinds: Collection[str]) -> Alike:
    found: Alike = {}
    for node in facts.nodes:
        if node.op_type in kinds and node.output:
            name = node.output[0]
            found.setdefault(facts.form(node), {})[name] = facts.datatypes.get(name, "")
    return found
