"""Two mappings of a blueprint as one: what an overlay says, over what was there."""

from __future__ import annotations

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from brainsmith.blueprint.space.forms import space_form
from brainsmith.yaml_nodes import is_null


def merged(base: Node | None, over: Node, keys: tuple[str, ...] = ()) -> Node:
    """Return a value with another one over it: mappings key by key, all else in place of what was there.

    Args:
        base: What was there; None for nothing.
        over: What is laid over it. In it, null takes a key away; not in arguments of steps, where it is a value.
        keys: Those that lead to it, from ``hw_compiler`` on.
    """
    if not isinstance(base, MappingNode) or not isinstance(over, MappingNode) or keys == ("kernels",):
        return over
    if space_form(base) or space_form(over):  # a choice is one value
        return over
    below = list(base.value)
    if not keys and any(key.value == "steps" for key, _ in over.value):
        below = [pair for pair in below if pair[0].value != "change_steps"]
    pairs, left = [], list(over.value)
    for key, value in below:
        given = [pair for pair in left if _same(pair[0], key)]
        left = [pair for pair in left if pair not in given]
        if not given:
            pairs.append((key, value))
        pairs += [(new, _over(value, item, (*keys, str(key.value)))) for new, item in given]
    values = len(keys) > 1 and keys[0] == "args"
    kept = [(key, value) for key, value in (*pairs, *left) if values or not is_null(value)]
    return MappingNode(over.tag, kept, over.start_mark, over.end_mark, over.flow_style)


def _over(base: Node, over: Node, keys: tuple[str, ...]) -> Node:
    if keys == ("change_steps",) and isinstance(base, SequenceNode) and isinstance(over, SequenceNode):
        return SequenceNode(over.tag, [*base.value, *over.value], over.start_mark, over.end_mark)
    return merged(base, over, keys)


def _same(key: Node, other: Node) -> bool:
    return isinstance(key, ScalarNode) and isinstance(other, ScalarNode) and key.value == other.value
