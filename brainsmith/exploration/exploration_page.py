"""`explore.html`: the front in two or three dimensions, all points over all axes, what matters, and a table of points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from brainsmith import figures
from brainsmith.blueprint.schema import FIGURES
from brainsmith.markup import Markup, embed_json, tag
from brainsmith.web.elements import cell, section, table
from brainsmith.web.html_file import html_document

_NONE = "none"


def exploration_page(
    document: Mapping[str, Any],
    cloud: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]],
    live: bool = False,
) -> str:
    """Return the page of an exploration.

    Args:
        document: What `explore.json` holds.
        cloud: Choices and figures of points that only the models know, as a background.
        live: Whether it still runs: the page then loads itself again every few seconds.
    """
    points = document["points"]
    columns = _columns(document, cloud)
    names = [column["name"] for column in columns]
    rows = [_row(number, point, names) for number, point in enumerate(points)]
    data = {
        "columns": columns,
        "rows": rows,
        "cloud": [
            {"values": [chosen.get(name, known.get(name)) for name in names]} for chosen, known in cloud
        ],
        "runs": live,
    }
    style = "".join(_resource(name) for name in ("web/report.css", "exploration/explore.css"))
    main = tag(
        "main",
        _front(columns, document),
        _ways(),
        _importance(document["importance"]),
        _points(points, columns),
    )
    foot = tag("footer", tag("p", f"Made by BrainSmith from explore.json, schema {document['schema']}."))
    body = Markup("".join([_masthead(document, live), main, foot]))
    return html_document(
        f"{document['blueprint']} · BrainSmith exploration",
        style,
        _resource("exploration/explore.js"),
        body,
        embed_json(data, "exploration"),
    )


def _resource(name: str) -> str:
    return files("brainsmith").joinpath(name).read_text("utf-8")


def _columns(
    document: Mapping[str, Any], cloud: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]]
) -> list[dict[str, Any]]:
    """Return choices and figures, those that vary, and all objectives that a point has."""
    shown = [point["figures"] or {} for point in document["points"]] + [known for _, known in cloud]
    choices = [
        {"name": name, "values": values, "known": len(values) > 1, "figure": False}
        for name, values in document["choices"].items()
    ]
    known = [
        {"name": name, "values": [], "known": True, "figure": True}
        for name in FIGURES
        if len({one.get(name) for one in shown} - {None}) > (name not in document["objectives"])
    ]
    return [*choices, *known]


def _row(number: int, point: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    values = {**point["choices"], **(point["figures"] or {})}
    said = ", ".join(f"{name}={value}" for name, value in point["choices"].items())
    folder = point["folder"]
    return {
        "number": number,
        "values": [values.get(name) for name in names],
        "label": said,
        "state": point["state"],
        "fidelity": point["fidelity"],
        "front": point["front"],
        "reason": point["reason"],
        "report": f"{folder}/{point['fidelity']}/report.html"
        if folder and point["state"] == "done"
        else None,
        "command": point["command"],
    }


def _masthead(document: Mapping[str, Any], live: bool) -> Markup:
    objectives = [f"{name} {wanted}" for name, wanted in document["objectives"].items()]
    done = sum(point["state"] == "done" for point in document["points"])
    facts = [
        ("State", "runs; this page loads itself again" if live else "ended"),
        ("Points considered", figures.count(document["considered"])),
        ("Points shown", f"{figures.count(done)} done, to {document['fidelity']}"),
        ("Objectives", ", ".join(objectives) or _NONE),
        ("Constraints", "; ".join(document["constraints"]) or _NONE),
    ]
    return tag(
        "header",
        tag("p", "BrainSmith exploration", class_="brand"),
        tag("h1", document["blueprint"]),
        tag("dl", [tag("div", tag("dt", name), tag("dd", value)) for name, value in facts], class_="facts"),
        class_="masthead",
    )


def _front(columns: Sequence[Mapping[str, Any]], document: Mapping[str, Any]) -> Markup:
    wanted = [name for name in document["objectives"] if any(one["name"] == name for one in columns)]
    rest = [one["name"] for one in columns if one["figure"] and one["name"] not in wanted]
    first = [*wanted, *rest, *(one["name"] for one in columns)][:2]
    third = wanted[2] if len(wanted) > 2 else ""
    chosen = dict(zip("xyz", [*first, third], strict=False))
    selects = [
        tag(
            "label",
            label,
            tag("select", _options(columns, chosen.get(key, ""), empty=key == "z"), id=f"axis-{key}"),
        )
        for key, label in (("x", "Across"), ("y", "Up"), ("z", "Depth"))
    ]
    legend = tag(
        "p",
        tag("span", "on the front", class_="dot best"),
        " ",
        tag("span", "built", class_="dot"),
        " ",
        tag("span", "known by the models alone", class_="dot cloud"),
    )
    count = tag("span", id="filtered")
    clear = tag("button", "Clear filters", type="button", id="no-filters", hidden=True)
    plot = tag(
        "svg",
        id="front-plot",
        class_="plot",
        viewBox="0 0 960 460",
        role="img",
        tabindex=0,
        aria_label="Points over two or three axes; with three, drag or use the arrow keys to turn",
    )
    tools = tag("div", selects, legend, count, clear, class_="controls", data_live=True, hidden=True)
    place = tag("div", id="chosen-point", class_="chosen-point", hidden=True)
    note = "Points that no other one beats in all objectives. A click on a point shows what is known of it."
    return section("front", "Front", tools, plot, place, note=note)


def _options(columns: Sequence[Mapping[str, Any]], chosen: str, *, empty: bool) -> list[Markup]:
    options = [tag("option", _NONE, value="", selected=not chosen)] if empty else []
    return options + [
        tag("option", one["name"], value=at, selected=one["name"] == chosen)
        for at, one in enumerate(columns)
        if one["known"]
    ]


def _ways() -> Markup:
    plot = tag(
        "svg",
        id="ways-plot",
        class_="plot",
        viewBox="0 0 960 460",
        role="img",
        aria_label="Each point as a line over all choices and figures",
    )
    note = "Each point is a line. Drag along an axis to keep the points that pass there; a click on it lets all through."
    return section("ways", "Choices and figures", plot, note=note)


def _importance(shares: Mapping[str, Mapping[str, float]]) -> Markup:
    lines = [
        tag(
            "tr",
            tag("th", figure, scope="row"),
            tag("td", name),
            tag("td", tag("meter", value=f"{value:.3f}", min=0, max=1), f" {figures.share(value, 0)}"),
        )
        for figure, each in shares.items()
        for name, value in sorted(each.items(), key=lambda one: -one[1])
        if value > 0
    ]
    heads = tag(
        "tr", [tag("th", name, scope="col") for name in ("Figure", "Choice", "Share of the variance")]
    )
    body = tag("table", tag("thead", heads), tag("tbody", lines), class_="shares")
    note = "How much of a figure's variance goes with each choice. What acts together counts for each."
    return section(
        "importance",
        "What matters",
        body if lines else tag("p", "Nothing varies.", class_="absent"),
        note=note,
    )


def _points(points: Sequence[Mapping[str, Any]], columns: Sequence[Mapping[str, Any]]) -> Markup:
    names = [column["name"] for column in columns if column["known"]]
    rows = []
    for number, point in enumerate(points):
        values = {**point["choices"], **(point["figures"] or {})}
        state = tag("td", f"{point['state']}, {point['fidelity']}", class_="best" if point["front"] else None)
        link = (
            tag("a", "report", href=f"{point['folder']}/{point['fidelity']}/report.html")
            if point["folder"] and point["state"] == "done"
            else point["reason"] or ""
        )
        cells = [_cell(values.get(name)) for name in names]
        rows.append(
            tag(
                "tr",
                cells,
                state,
                tag("td", "front" if point["front"] else ""),
                tag("td", link, class_="fine"),
                id=f"point-{number}",
            )
        )
    heads = [*names, "state", "front", "more"]
    return section("points", "Points", table("Points", heads, rows, set()))


def _cell(value: Any) -> Markup:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return cell(f"{value:,.6g}", float(value))
    return tag("td", "" if value is None else str(value))
