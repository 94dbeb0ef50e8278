"""Which datatypes a graph has lost, whatever its tensors and nodes are called now.

Tensors are put into groups of those that look alike, before and after: inputs by name, or by shape and readers; constants
by their values; outputs of nodes by how they are computed. A group in which fewer tensors have a datatype than before, and
more have none, lost some. What follows from a node and its inputs needs no comparison: it is lost if the graph lacks it,
unless it was lacking before.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from onnx import numpy_helper

from brainsmith.build.tensor_facts import TensorFacts, following
from brainsmith.graph.ends import input_values

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from onnx import TensorProto
    from qonnx.core.modelwrapper import ModelWrapper

    Groups = dict[Any, dict[str, str]]
    """What looks alike: names with their datatypes, empty for none, in the order of the graph."""


def lost_ends(before: TensorFacts, after: TensorFacts) -> dict[str, str]:
    """Return the datatypes that inputs and constants of the graph had and lack now: they follow from nothing."""
    names = [{value.name for value in input_values(facts.graph)} for facts in (before, after)]
    kinds = {_kind(tensor) for name, tensor in before.constants.items() if name in before.datatypes}
    groups = [_ends(facts, names[0] & names[1], kinds) for facts in (before, after)]
    return _lost_of_groups(*groups)


def _ends(facts: TensorFacts, kept: Collection[str], kinds: Collection[Any]) -> Groups:
    """Group inputs, by name if they kept theirs, and constants of some kinds."""
    found: Groups = {}
    for value in input_values(facts.graph):
        readers = [
            (node.op_type, node.domain, names.index(value.name))
            for node, names in zip(facts.nodes, facts.reads, strict=True)
            if value.name in names
        ]
        place = value.type.SerializeToString(deterministic=True), tuple(readers)
        _add(found, value.name if value.name in kept else place, value.name, facts)
    for name, tensor in facts.constants.items():
        if _kind(tensor) in kinds:
            _add(found, _values(tensor), name, facts)
    return found


def _add(groups: Groups, alike: Any, name: str, facts: TensorFacts) -> None:
    groups.setdefault(alike, {})[name] = facts.datatypes.get(name, "")


def _kind(tensor: TensorProto) -> tuple[int, tuple[int, ...]]:
    return tensor.data_type, tuple(tensor.dims)


def _values(tensor: TensorProto) -> tuple[Any, bytes]:
    return _kind(tensor), numpy_helper.to_array(tensor).tobytes()


def _lost_of_groups(before: Groups, after: Groups) -> dict[str, str]:
    """Return which tensors lost which datatype: of a group, as many as there are fewer with one and more without one."""
    lost: dict[str, str] = {}
    for alike, now in after.items():
        then = before.get(alike, {})
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


def not_lacking(found: Mapping[str, str], after: TensorFacts, given: ModelWrapper) -> dict[str, str]:
    """Return those datatypes that the graph did not lack before: neither the tensor of this name, nor a node of this kind.

    Args:
        found: Datatypes that follow from nodes and their inputs, and that the graph lacks now.
        after: What is known of it.
        given: The model before.
    """
    complete = TensorFacts(given.graph)
    lacked, _ = following(given, complete)
    spare = Counter(form for name, form in _forms(lacked, complete).items() if name not in found)
    lost = {}
    for name, form in _forms(found, after).items():
        if name in lacked:
            continue
        if spare[form] > 0:
            spare[form] -= 1
        else:
            lost[name] = found[name]
    return lost


def _forms(names: Collection[str], facts: TensorFacts) -> dict[str, Any]:
    return {name: facts.form(node) for node in facts.nodes for name in node.output if name in names}


def lost_without_rule(floats: Sequence[Any], before: TensorFacts, after: TensorFacts) -> dict[str, str]:
    """Find lost datatypes that do not follow from QONNX's rules.

    What is computed as before is the same tensor. If nothing of that lost a datatype, nodes are alike that do the same with
    inputs of the same datatypes.

    Args:
        floats: Nodes of the graph whose outputs are floats by these rules.
        before: What was known.
        after: What is.

    Returns:
        The tensors, with the datatypes that they or nodes of this kind gave.
    """
    kinds = {node.op_type for node in floats}
    if not any(node.op_type in kinds and name in before.datatypes for node, name in _first_outputs(before)):
        return {}
    numbers: dict[Any, int] = {}
    for alike in (lambda facts: _origins(facts, numbers), _output_forms):
        lost = _lost_of_groups(*(_outputs(facts, kinds, alike(facts)) for facts in (before, after)))
        if lost:
            return lost
    return {}


def _first_outputs(facts: TensorFacts) -> list[tuple[Any, str]]:
    return [(node, names[0]) for node, names in zip(facts.nodes, facts.gives, strict=True) if names]


def _output_forms(facts: TensorFacts) -> dict[str, Any]:
    return {name: facts.form(node) for node, name in _first_outputs(facts)}


def _outputs(facts: TensorFacts, kinds: Collection[str], alike: Mapping[str, Any]) -> Groups:
    """Group the first outputs of nodes of some kinds."""
    found: Groups = {}
    for node, name in _first_outputs(facts):
        if node.op_type in kinds and name in alike:
            _add(found, alike[name], name, facts)
    return found


def _origins(facts: TensorFacts, numbers: dict[Any, int]) -> dict[str, int]:
    """Number tensors by how they are computed of inputs and constants; what stands before its inputs has no number.

    Args:
        facts: Of a graph.
        numbers: The numbers of another graph, to which new ones are added.
    """
    found = {"": -1}
    for at, value in enumerate(input_values(facts.graph)):
        found[value.name] = numbers.setdefault(at, len(numbers))
    for name, tensor in facts.constants.items():
        found[name] = numbers.setdefault(_values(tensor), len(numbers))
    for node, reads, gives in zip(facts.nodes, facts.reads, facts.gives, strict=True):
        if all(name in found for name in reads):
            origin = (*facts.form(node)[:3], *[found[name] for name in reads])
            for at, name in enumerate(gives):
                found[name] = numbers.setdefault((origin, at), len(numbers))
    return found
