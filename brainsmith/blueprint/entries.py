"""The three lists of a blueprint, kernels, transforms and steps, with their short forms."""

from __future__ import annotations

from yaml.nodes import MappingNode, Node, SequenceNode

from brainsmith.blueprint.nodes import Document
from brainsmith.blueprint.schema import (
    KEYS,
    PHASES,
    Arguments,
    KernelEntry,
    PluginName,
    StepEntry,
)
from brainsmith.close_names import close_names
from brainsmith.yaml_nodes import is_null, is_text

MOST_PASSES = 1_000_000
"""More are no limit."""


def read_kernels(doc: Document, node: Node, label: str) -> tuple[KernelEntry, ...]:
    """Read ``kernels``: a list of entries, or a mapping from kernels to their backends."""
    if isinstance(node, MappingNode):
        pairs = doc.pairs(node, label).values()
        found = [_kernel(doc, key, value, f"{label}.{key.value}") for key, value in pairs]
    else:
        found = [_kernel_item(doc, item, name) for name, item in doc.items(node, label)]
    return tuple(entry for entry in found if entry)


def _kernel_item(doc: Document, node: Node, label: str) -> KernelEntry | None:
    """Read ``name``, ``{kernel: name, backends: [...]}`` or the short form ``name: backends``."""
    if not isinstance(node, MappingNode):
        return _kernel(doc, node, None, label)
    if len(node.value) == 1 and is_text(node.value[0][0]):
        key, value = node.value[0]
        if not _means_key(key.value, KEYS["kernel"]):
            return _kernel(doc, key, value, label)
    before = len(doc.problems)
    pairs = doc.mapping(node, label, KEYS["kernel"])
    if "kernel" not in pairs:
        if len(doc.problems) == before:
            doc.report(node, f"{label} must name a kernel: {{kernel: Name, backends: [hls]}}")
        return None
    return _kernel(doc, pairs["kernel"][1], pairs["backends"][1] if "backends" in pairs else None, label)


def _means_key(word: str, keys: tuple[str, ...]) -> bool:
    """Tell whether a word is one of the keys, or one of them misspelt."""
    return bool(close_names(word, keys, cutoff=0.8))


def _kernel(doc: Document, name: Node, backends: Node | None, label: str) -> KernelEntry | None:
    kernel = _one_name(doc, name, label)
    return KernelEntry(kernel, _backends(doc, backends, f"the backends of {label}")) if kernel else None


def _backends(doc: Document, node: Node | None, label: str) -> tuple[PluginName, ...] | None:
    """Read one name or a list of names; None, "any backend", where none is stated."""
    if node is None or is_null(node):
        return None
    items = node.value if isinstance(node, SequenceNode) else [node]
    if not items:
        doc.report(node, f"{label} are an empty list: leave it out to take any backend")
    names = [doc.name(item, f"each of {label}") for item in items]
    found = tuple(name for name in names if name)
    for index, name in enumerate(found):
        if name in found[:index]:
            text = f"backend {name.qualified!r} is listed twice"
            doc.report(items[names.index(name, names.index(name) + 1)], text)
    return found


def _one_name(doc: Document, node: Node, label: str) -> PluginName | None:
    """Read a name where some people would write a list of alternatives."""
    if isinstance(node, SequenceNode):
        text = "a list: write one name, or {choice: [...]} for several that are explored"
        doc.report(node, f"{label} is {text}")
        return None
    return doc.name(node, label)


def read_transforms(doc: Document, node: Node, label: str) -> tuple[StepEntry, ...]:
    """Read a list of transforms: ``name`` or ``{transform: name, args: {...}, passes: N}``."""
    entries = []
    for item_label, item in doc.items(node, label):
        found = _named_with_args(doc, item, item_label, KEYS["transform"], ("transform",))
        if found:
            entries.append(StepEntry(*found))
    return tuple(entries)


def read_steps(doc: Document, node: Node, label: str) -> tuple[StepEntry, ...] | None:
    """Read ``steps``: names, phase words, ``{step: ...}``, ``{transform: ...}``; None if none is stated."""
    if is_null(node):
        return None
    if isinstance(node, SequenceNode) and not node.value:
        doc.report(node, f"{label} is an empty list: leave the key out for the default order")
    entries = []
    for item_label, item in doc.items(node, label):
        found = _named_with_args(doc, item, item_label, KEYS["step"], ("step", "transform"))
        if not found:
            continue
        kind, name, args, passes = found
        if not isinstance(item, MappingNode) and name.qualified in PHASES:
            kind = "phase"
            if name.optional:
                doc.report(item, f"{name.name!r} places a list, so it cannot be optional: write it without ~")
        entries.append(StepEntry(kind, name, args, passes))
    return tuple(entries)


def _named_with_args(
    doc: Document, node: Node, label: str, keys: tuple[str, ...], kinds: tuple[str, ...]
) -> tuple[str, PluginName, Arguments, int | None] | None:
    """Read ``name`` (of the first kind) or a mapping with one of the kinds as its key, ``args`` and ``passes``."""
    if not isinstance(node, MappingNode):
        name = _one_name(doc, node, label)
        return (kinds[0], name, Arguments(), None) if name else None
    if _explain_short_form(doc, node, label, keys, kinds):
        return None
    before = len(doc.problems)
    pairs = doc.mapping(node, label, keys)
    unknown = len(doc.problems) > before
    given = [kind for kind in kinds if kind in pairs]
    args = doc.arguments(pairs["args"][1], f"{label}.args") if "args" in pairs else Arguments()
    passes = None
    if "passes" in pairs:  # how often a transform may be applied again
        what = f"a whole number from 1 to {MOST_PASSES:,}"
        passes = doc.number_in(pairs["passes"][1], f"{label}.passes", what, 1, MOST_PASSES, whole=True)
    if len(given) != 1:
        what = "both a step and a transform: make two entries" if given else f"no {' or '.join(kinds)}"
        if given or not unknown:
            doc.report(node, f"{label} names {what}")
        return None
    name = _one_name(doc, pairs[given[0]][1], f"{label}.{given[0]}")
    return (given[0], name, args, None if passes is None else int(passes)) if name else None


def _explain_short_form(
    doc: Document, node: MappingNode, label: str, keys: tuple[str, ...], kinds: tuple[str, ...]
) -> bool:
    """Answer ``- Name: ...``, which only kernels have, with the form that was meant."""
    if len(node.value) != 1 or not is_text(node.value[0][0]) or _means_key(node.value[0][0].value, keys):
        return False
    key, value = node.value[0]
    if is_text(value):
        meant = f"for a name with its framework, write {key.value}:{value.value} without the space"
    else:
        meant = f"for arguments, write {{{kinds[0]}: {key.value}, args: {{...}}}}"
    doc.report(key, f"unknown key {key.value!r} in {label}: {meant}")
    return True
