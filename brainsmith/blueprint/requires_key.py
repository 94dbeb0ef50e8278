"""The key ``requires``: the versions of plugins and of installed distributions that a blueprint accepts."""

from __future__ import annotations

from yaml.nodes import Node

from brainsmith.blueprint.nodes import Document
from brainsmith.blueprint.schema import Requirement
from brainsmith.plugin.plugin_needs import read_need
from brainsmith.plugin.plugin_versions import comparison_hint, versions_problem
from brainsmith.yaml_nodes import describe, is_text


def read_requires(doc: Document, node: Node) -> tuple[Requirement, ...]:
    """Read versions by what they are of: `finn-plus` is a distribution, `acme:FuseBias` and `kernel:MatMul` are plugins."""
    found = []
    for name, (key, value) in doc.pairs(node, "requires").items():
        position = doc.position(key)
        what = "versions, such as '>=2,<3' or '~=1.6'"
        if not is_text(value):
            doc.report(value, f"requires.{name} must be {what}, not {describe(value)}")
            continue
        versions = str(value.value).strip()
        problem = versions_problem(versions or None)
        if problem:
            hint = comparison_hint(versions)
            doc.report(value, f"requires.{name} must be {what}, not {describe(value)}{hint}")
        elif ":" in name:
            try:
                stated = read_need(name, "", "")
            except ValueError as error:
                doc.report(key, f"requires: a key with a colon {error}")
                continue
            if stated.versions:
                doc.report(
                    key, f"requires: write the versions after the colon: '{stated.name}': '{stated.versions}'"
                )
                continue
            found.append(Requirement(name, versions, position))
        elif _is_distribution(name):
            found.append(Requirement(name, versions, position))
        else:
            doc.report(
                key,
                f"requires: {name!r} is no name of a distribution; a plugin has a colon, such as transform:FuseBias",
            )
    return tuple(found)


def _is_distribution(name: str) -> bool:
    from packaging.utils import InvalidName, canonicalize_name  # hardly any blueprint requires versions

    try:
        canonicalize_name(name, validate=True)
    except InvalidName:
        return False
    return True
