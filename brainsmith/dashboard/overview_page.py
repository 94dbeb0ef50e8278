"""The dashboard's list of builds: those that run, and those that ended, to be compared."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from urllib.parse import quote, urlencode

from brainsmith import figures
from brainsmith.build.report_figures import figures_of
from brainsmith.dashboard.build_tree import MOST, MOST_FOLDERS, PAGE, FoundBuild
from brainsmith.markup import Child, Markup, tag
from brainsmith.report_fields import text
from brainsmith.web.elements import sentence, table
from brainsmith.web.html_file import site_page
from brainsmith.web.step_result import read_steps
from brainsmith.web.subject import read_subject
from brainsmith.web.verdict import judge

STYLE, SCRIPT = "/dashboard.css", "/dashboard.js"
MOST_COMPARED = 4
_COLUMNS = (
    "Compare",
    "Build",
    "Model",
    "Part",
    "Result",
    "Samples/s",
    "LUT",
    "BRAM",
    "DSP",
    "Accuracy",
    "Ended",
)


def dashboard_page(title: str, *content: Child) -> str:
    """Return a page of the dashboard."""
    brand = tag("a", tag("strong", "BrainSmith"), " builds", href="/", class_="brand-link")
    top = tag("header", tag("div", brand, class_="bar-inside"), class_="top-bar")
    main = tag("main", content, id="main")
    return site_page(f"{title} · BrainSmith", STYLE, SCRIPT, top, main, asks_again=True)


def overview_page(root: str, builds: Sequence[FoundBuild], now: float, is_cut: bool = False) -> str:
    """Return the page.

    Args:
        root: The folder whose builds they are.
        builds: In order.
        now: Seconds since 1970.
        is_cut: Whether there may be more.
    """
    head = tag("div", tag("h1", "Builds"), tag("p", tag("code", root), class_="lead"), class_="page-head")
    return dashboard_page("Builds", head, tag("div", overview_parts(builds, now, is_cut), id="builds"))


def overview_parts(builds: Sequence[FoundBuild], now: float, is_cut: bool = False) -> Markup:
    """Return what the script asks for again and again: the builds that run, and the table of the others."""
    running = [one for one in builds if one.state == "running"]
    ended = [one for one in builds if one.state != "running"]
    live = tag(
        "section", tag("h2", "Running"), tag("ul", [_running(one, now) for one in running], class_="running")
    )
    button = tag("button", "Compare", type="submit")
    words = f"Choose 2 to {MOST_COMPARED} builds."
    form = tag(
        "form",
        tag("p", button, " ", tag("span", words, class_="said"), class_="compare-bar"),
        table("Builds", _COLUMNS, [_row(one) for one in ended], range(5, 10)),
        action="/compare",
        method="get",
    )
    nothing = sentence(
        "No build has ended in this folder or below it. brainsmith build --output DIR makes one."
    )
    done = tag("section", tag("h2", "Ended"), form if ended else nothing)
    most = f"{MOST:,} of them, and {MOST_FOLDERS:,} folders, are shown at most"
    more = f"There may be more builds: {most}. Name a folder below."
    return Markup("".join([live if running else "", done, sentence(more) if is_cut else ""]))


def build_address(path: str, file: str = PAGE) -> str:
    """Return where a file of a build is served."""
    return f"/build/{quote(path, errors='replace')}/-/{quote(file, errors='replace')}"


def compare_address(paths: Sequence[str]) -> str:
    """Return the address of a comparison."""
    return f"/compare?{urlencode([('build', path) for path in paths], errors='replace')}"


def _running(build: FoundBuild, now: float) -> Markup:
    count = figures.plural(len(build.steps), "step")
    last = build.steps[-1].partition("_")[2] if build.steps else ""
    parts = [
        tag("strong", build.path),
        tag("span", f"{count} done", class_="state-of"),
        tag("span", f"last: {last}", class_="said") if last else None,
        tag("span", f"for {_duration(now - build.time)}", class_="said"),
    ]
    return tag("li", parts)


def _duration(seconds: float) -> str:
    """Write how long a build runs, in whole seconds: it is written again every few of them."""
    whole = max(round(seconds), 1)
    return figures.seconds(whole) if whole >= 120 else f"{whole} s"


def _row(build: FoundBuild) -> Markup:
    report = build.report
    subject = read_subject(report)
    known = figures_of(report)
    chosen = tag("input", type="checkbox", name="build", value=build.path, aria_label=f"Compare {build.path}")
    readable = build.state != "unreadable"
    return tag(
        "tr",
        tag("td", chosen if readable else ""),
        tag(
            "th",
            tag("a", build.path, href=build_address(build.path)) if readable else build.path,
            scope="row",
        ),
        tag("td", subject.name if readable else "–"),
        tag("td", subject.part or "–"),
        tag("td", _result(build)),
        [
            tag("td", _figure(known[name], name), class_="number")
            for name in ("fps", "lut", "bram18", "dsp", "accuracy")
        ],
        tag("td", datetime.fromtimestamp(build.time, UTC).astimezone().strftime("%Y-%m-%d %H:%M")),
    )


def _result(build: FoundBuild) -> Markup:
    if build.state == "unreadable":
        return tag("span", build.reason, class_="state bad")
    verdict = judge(build.report, read_steps(build.report))
    kind = verdict.kind if verdict.kind in ("good", "bad") else "open"
    return tag("span", verdict.title, class_=f"state {kind}", title=text(verdict.sentence))


def _figure(value: float | None, name: str) -> str:
    return figures.percent(value) if name == "accuracy" else figures.count(value)
