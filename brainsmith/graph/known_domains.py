"""Whose operators a model may have: QONNX imports the module that a node's domain names, whatever module that is."""

from __future__ import annotations

import sys
from functools import cache
from importlib.util import find_spec

from brainsmith.plugin.trust import why_not_trusted

STANDARD = ("", "ai.onnx", "ai.onnx.ml")
"""ONNX's own, which no module stands for."""
_FRAMEWORKS = ("qonnx.custom_op.", "finn.custom_op.")
_OPS = "brainsmith.ops"
_NO_LAYERS = ("qonnx.", "onnx.brevitas", _OPS)
"""With what domains begin whose operators make no code."""
_OLD = ("onnx.brevitas", "qonnx", "finn")
"""Names that QONNX replaces by `qonnx.custom_op.general`."""


def domain_fault(domain: str) -> str:
    """Return why a node's domain must not be looked up, to follow "is of"; nothing if it may.

    It may where that imports nothing: there is no such module (as for ONNX Runtime's own domains), or somebody has
    imported it before; and where it is a domain of QONNX, FINN, this project, or of a plugin that discovery finds.
    """
    if domain in (*STANDARD, *_OLD) or domain.startswith(_FRAMEWORKS) or domain in own_domains():
        return ""
    module = _module_of(domain)
    top = module.partition(".")[0]
    if module in sys.modules or not _is_there(top) or _is_a_plugins(domain, module):
        return ""
    return (
        f"domain {domain!r}, for which QONNX would import the module '{module}', which is not a domain of QONNX, "
        "FINN, BrainSmith or a plugin that is found here. If you trust the module, import it first, or make its "
        "operators plugins (`brainsmith plugins list` shows what is found); else remove the node"
    )


@cache
def own_domains() -> frozenset[str]:
    """Return the domains of this project's ops, and those that its own kernels and backends state."""
    from brainsmith.plugin.manager import get_plugin_manager

    records = get_plugin_manager().all_records()[0].records()
    stated = {info.extra.get("domain", _OPS) for info in records if info.framework == "brainsmith"}
    return frozenset({_OPS, *stated})


def has_layers(domain: str) -> bool:
    """Tell whether operators of a domain may be hardware layers, which make code: not those of QONNX, ops and no module."""
    return not domain.startswith(_NO_LAYERS) and _is_there(_module_of(domain).partition(".")[0])


def _module_of(domain: str) -> str:
    """Return the module that QONNX looks in."""
    registry = sys.modules.get("qonnx.custom_op.registry")
    return str(registry.resolve_domain(domain)) if registry is not None else domain


def _is_there(top: str) -> bool:
    """Tell whether there is a module of a name without a dot; none is imported."""
    try:
        return find_spec(top) is not None if top else True
    except ValueError:  # one that is imported and does not say from where
        return True


def _is_a_plugins(domain: str, module: str) -> bool:
    """Tell whether a plugin that is trusted states the domain, or comes from the package that it names.

    One of another environment brings no module that is here.
    """
    from brainsmith.plugin.manager import get_plugin_manager

    top = module.partition(".")[0]
    for info in get_plugin_manager().all_records()[0].records():
        if "environment" in info.extra:
            continue
        of_its_package = info.framework != "brainsmith" and info.module.partition(".")[0] == top
        if (info.extra.get("domain") == domain or of_its_package) and not why_not_trusted(info):
            return True
    return False
