"""Write a build's report as one HTML file that needs nothing else: no network, no script to be readable."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from brainsmith.errors import OutputError
from brainsmith.figures import number
from brainsmith.graph_drawing.graph_svg import STYLE
from brainsmith.markup import Markup, embed_json, tag
from brainsmith.report_fields import Fields, fields, items, text
from brainsmith.rtl.drawing.theme import arrow
from brainsmith.web import header, page_sections
from brainsmith.web.circuit import circuit_section
from brainsmith.web.design_layers import DesignLayer, read_fifos, read_layers
from brainsmith.web.graph import Drawing, draw
from brainsmith.web.graph_data import read_graph
from brainsmith.web.html_file import html_document, served_policy
from brainsmith.web.integers_section import integers_section
from brainsmith.web.layers_section import layers_section
from brainsmith.web.step_result import read_steps
from brainsmith.web.steps import steps_section
from brainsmith.web.subject import read_files, read_subject
from brainsmith.web.summary import summary
from brainsmith.web.synthesis import synthesis_section
from brainsmith.web.targets_section import targets_section
from brainsmith.web.verdict import judge


def render(report: Mapping[str, Any], output: Path, wave: str = "") -> Path:
    """Write a report as a self-contained HTML file.

    Args:
        report: The content of report.json (schema brainsmith.report/1). What is absent is shown as absent.
        output: The file to write, in an existing folder; a build renames the folder when all is written.
        wave: The picture of a frame's handshakes, the content of an SVG file; empty where there is none.

    Returns:
        `output`.

    Raises:
        OutputError: The file cannot be written.
    """
    try:
        output.write_bytes(page(report, wave).encode())
    except OSError as error:
        reason = error.strerror or str(error)
        text = f"{output}: the report cannot be written ({reason}); name a folder that is writable"
        raise OutputError(text) from error
    return output


def page(report: Mapping[str, Any], wave: str = "") -> str:
    """Build the whole HTML document of a report; `wave` as in `render`."""
    subject, steps, layers = read_subject(report), read_steps(report), read_layers(report)
    warnings = [text(warning) for warning in items(report.get("warnings"))]
    graphs = fields(report.get("graphs"))
    before = _drawing(graphs, "before", (), "The model before the build")
    after = _drawing(graphs, "after", layers, "The model after the build")
    details = {key: drawing.details for key, drawing in (("before", before), ("after", after)) if drawing}
    interval = number(fields(report.get("estimate")).get("interval_cycles"))
    main = tag(
        "main",
        summary(report, subject, layers, steps),
        page_sections.warnings_section(warnings),
        page_sections.graphs_section(before, after, failed=bool(report.get("error"))),
        steps_section(steps),
        layers_section(layers, interval, after.places if after else {}, read_fifos(report)),
        integers_section(report.get("integers")),
        circuit_section(report.get("rtl"), layers, subject.clock_ns, wave),
        synthesis_section(report.get("synthesis"), report.get("device")),
        targets_section(report.get("targets")),
        page_sections.plugins_section(report.get("plugins")),
    )
    seconds = sum(step.seconds or 0 for step in steps)
    facts = header.masthead(subject, judge(report, steps), seconds, read_files(report))
    top = [facts, header.contents(len(warnings))]
    schema = text(report.get("schema")) or "not stated"
    digest = f" The model's digest is {subject.digest}." if subject.digest else ""
    foot = tag("footer", tag("p", f"Made by BrainSmith from report.json, schema {schema}.{digest}"))
    return _document(subject.name, Markup("".join([*top, main, foot])), details)


def page_policy() -> str:
    """Return the policy for a page in a build's folder: it runs this version's script or none, and loads nothing."""
    return served_policy(_resource("report.js"))


def _drawing(graphs: Fields, key: str, layers: tuple[DesignLayer, ...], title: str) -> Drawing | None:
    graph = read_graph(graphs.get(key), layers)
    return draw(graph, layers, key, title) if graph.nodes else None


def _document(name: str, body: Markup, details: dict[str, dict[str, object]]) -> str:
    style, script = _resource("report.css") + STYLE, _resource("report.js")
    title = f"{name} · BrainSmith build report"
    return html_document(title, style, script, _patterns(), body, embed_json(details, "graph-data"))


def _patterns() -> Markup:
    """Define the edges' arrow heads and the hatching of reused steps, which shows without colour."""
    stripe = tag("path", d="M-1 7L7 -1M-1 1L1 -1M5 7L7 5", class_="stripe")
    ground = tag("rect", width=6, height=6, class_="stripe-ground")
    pattern = tag("pattern", ground, stripe, id="hatch", width=6, height=6, patternUnits="userSpaceOnUse")
    shapes = tag("defs", pattern, arrow("arrow"), arrow("arrow-lit", "arrow lit"))
    return tag("svg", shapes, width=0, height=0, aria_hidden="true", class_="patterns")


def _resource(name: str) -> str:
    return files("brainsmith.web").joinpath(name).read_text("utf-8")
