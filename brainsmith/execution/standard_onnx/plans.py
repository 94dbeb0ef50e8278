"""Which plan rewrites which operator."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module

from brainsmith.execution.standard_onnx.emitter import Emitter
from brainsmith.graph.node_view import NodeView

Plan = Callable[[NodeView, Emitter], None]
"""Writes what a node computes for any number of runs that lie in the first axis of its inputs one after the other."""

_FAMILIES = ("channels_last",)
_PLANS: dict[tuple[str, str], Plan] = {}


def rewrites(domain: str, *kinds: str) -> Callable[[Plan], Plan]:
    """Enter a function as the plan of some operators."""

    def enter(plan: Plan) -> Plan:
        _PLANS.update({(domain, kind): plan for kind in kinds})
        return plan

    return enter


@cache
def _all_plans() -> dict[tuple[str, str], Plan]:
    for family in _FAMILIES:
        import_module("brainsmith.execution.standard_onnx." + family)
    return _PLANS


def plan_of(view: NodeView) -> Plan | None:
    """Return the plan of a node's operator; None if nothing rewrites it."""
    return _all_plans().get((view.family, view.kind))
