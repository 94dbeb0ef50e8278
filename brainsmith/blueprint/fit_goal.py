"""The ``fit`` of a blueprint's target: how much of the device, what is best, and the least rate."""

from __future__ import annotations

import re
from collections.abc import Callable

from yaml.nodes import Node

from brainsmith.blueprint.nodes import Document
from brainsmith.blueprint.schema import GOALS, KEYS, FitGoal
from brainsmith.close_names import did_you_mean
from brainsmith.yaml_nodes import describe, is_text

SHARE = re.compile(r"(?P<number>\d+(?:\.\d*)?|\.\d+)\s*%")
_PER_CENT = 100

FpsReader = Callable[[Document, Node, str], int | None]
"""Reads a rate under a key."""


def read_fit(doc: Document, node: Node, read_fps: FpsReader) -> FitGoal:
    """Read ``fit``; every key is optional, but the goal ``resources`` needs a rate: else the slowest is best."""
    pairs = doc.mapping(node, "target.fit", KEYS["fit"])
    values = {key: value for key, (_, value) in pairs.items()}
    goal = _goal(doc, values["goal"]) if "goal" in values else GOALS[0]
    least = (
        doc.mapping(values["at_least"], "target.fit.at_least", KEYS["at_least"])
        if "at_least" in values
        else {}
    )
    if goal == "resources" and "fps" not in least:
        text = "target.fit.goal: resources needs the rate that the smallest circuit must reach: at_least: {fps: 1000}"
        doc.report(values["goal"], text)
    return FitGoal(
        use=_use(doc, values["use"]) if "use" in values else None,
        goal=goal,
        fps=read_fps(doc, least["fps"][1], "target.fit.at_least.fps") if "fps" in least else None,
        position=doc.position(node),
    )


def _goal(doc: Document, node: Node) -> str:
    text = doc.text(node, "target.fit.goal", f"one of {', '.join(GOALS)}")
    if text is None or text in GOALS:
        return text or GOALS[0]
    doc.report(
        node, f"target.fit.goal must be one of {', '.join(GOALS)}, not {text!r}{did_you_mean(text, GOALS)}"
    )
    return GOALS[0]


def _use(doc: Document, node: Node) -> float | None:
    """Read a share of the device: `80 %`, or a number up to 1."""
    match = SHARE.fullmatch(str(node.value).strip()) if is_text(node) else None
    number = float(match["number"]) / _PER_CENT if match else doc.number(node)
    if number is None:
        doc.report(node, f"target.fit.use must be a share of the device, such as 80 %, not {describe(node)}")
        return None
    if not 0 < number <= 1:
        given = f"{number * _PER_CENT:,.6g} %"
        # `use: 80` means 80 %, and without the sign is 80 times the device
        meant = f". Did you mean '{number:.4g} %'?" if match is None and 1 < number <= _PER_CENT else ""
        doc.report(
            node, f"target.fit.use must be more than 0 % and at most 100 % of the device, not {given}{meant}"
        )
        return None
    return float(number)
