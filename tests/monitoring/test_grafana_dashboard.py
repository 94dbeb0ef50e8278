"""The dashboard asks for figures that a real process has; the page lists them, and no others."""

import json
import re
import subprocess

import pytest

from brainsmith.cli.main import main
from brainsmith.monitoring.grafana_dashboard import dashboard_text
from tests.cli.command import COMMAND, ROOT
from tests.monitoring.exposed import fetch, names, samples

DASHBOARD = json.loads(dashboard_text())
EXPRESSIONS = [
    (panel["title"], target["expr"]) for panel in DASHBOARD["panels"] for target in panel.get("targets", ())
]
QUERIES = [one["definition"] for one in DASHBOARD["templating"]["list"] if one["type"] == "query"]
PAGE = (ROOT / "docs" / "monitoring.md").read_text()


def asked(expression):
    """The names of metrics in an expression of PromQL: what is left of its words, without labels and functions."""
    text = re.sub(r"\{[^}]*\}|\[[^]]*\]|\"[^\"]*\"", " ", expression)
    text = re.sub(r"\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)", " ", text)
    words = re.findall(r"[a-zA-Z_:][\w:]*(?!\w)(?!\s*\()", text)
    return {word for word in words if word not in ("and", "or", "unless", "bool", "offset", "by", "without")}


@pytest.fixture(scope="module")
def served():
    """What a real server of a target shows at /metrics, in a process of its own."""
    with subprocess.Popen(
        [*COMMAND, "serve-target", "numpy", "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            url = re.search(r"http://\S+(?=,)", process.stdout.readline()).group()
            yield fetch(f"{url}/metrics")
        finally:
            process.terminate()
            process.communicate(timeout=20)


def test_names_are_read_from_expressions():
    assert asked(
        'histogram_quantile(0.5, sum by (le, a) (rate(b_bucket{c=~"$d",e="f()"}[$__rate_interval]))) * 3600'
    ) == {"b_bucket"}
    assert asked("a / on (b) group_left (c) d_total unless e") == {"a", "d_total", "e"}


@pytest.mark.slow
@pytest.mark.parametrize(("title", "expression"), EXPRESSIONS)
def test_each_panel_shows_figures_that_there_are(title, expression, served):
    wanted = asked(expression)
    assert wanted and wanted <= names(served), title


@pytest.mark.slow
def test_each_figure_is_shown_by_some_panel_or_is_of_no_picture(served):
    """So that a figure that is added is also put on the dashboard, or left out knowingly."""
    shown = set().union(*(asked(expression) for _, expression in EXPRESSIONS))
    own = {name for name in names(served) if name.startswith("brainsmith_")}
    left = {re.sub(r"_(bucket|sum|count)$", "", name) for name in own - shown}
    shown_families = {re.sub(r"_(bucket|sum|count)$", "", name) for name in shown}
    assert left - shown_families == {
        "brainsmith_instance_cache_hits_total",
        "brainsmith_instance_cache_misses_total",
        "brainsmith_plugins_loaded",
    }


@pytest.mark.slow
def test_labels_in_expressions_are_those_of_the_figures(served):
    labels = {label for key in samples(served) for label, _ in key[1:]}
    labels |= {
        "job",
        "instance",
        "le",
        "status",
        "kind",
        "route",
        "target",
    }  # Prometheus' own, and of requests
    for title, expression in EXPRESSIONS:
        used = re.findall(r"(\w+)=~?\"", expression)
        used += re.split(r",\s*", ",".join(re.findall(r"by \(([^)]*)\)", expression)))
        assert set(filter(None, used)) <= labels, title


@pytest.mark.slow
def test_the_page_lists_each_figure_and_no_other(served):
    listed = set(re.findall(r"`(brainsmith_\w+)`", PAGE))
    families = {re.sub(r"_(bucket|sum|count)$", "", name) for name in names(served)}
    assert listed == {name for name in families if name.startswith("brainsmith_")}


def test_grafana_finds_what_it_needs():
    assert (DASHBOARD["title"], DASHBOARD["uid"]) == ("BrainSmith", "brainsmith")
    ids = [panel["id"] for panel in DASHBOARD["panels"]]
    assert len(ids) == len(set(ids))
    assert QUERIES == [
        "label_values(brainsmith_info, job)",
        'label_values(brainsmith_info{job=~"$job"}, instance)',
    ]
    for panel in DASHBOARD["panels"]:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24
        if panel["type"] != "row":
            assert panel["title"] and panel["description"].endswith(".")
            assert panel["datasource"] == {"type": "prometheus", "uid": "${datasource}"}
    boxes = [panel["gridPos"] for panel in DASHBOARD["panels"]]
    for at, one in enumerate(boxes):
        for other in boxes[at + 1 :]:
            apart = one["x"] + one["w"] <= other["x"] or other["x"] + other["w"] <= one["x"]
            assert apart or one["y"] + one["h"] <= other["y"] or other["y"] + other["h"] <= one["y"]


def test_the_command_prints_it(capsys):
    assert main(["metrics", "--dashboard"]) == 0
    assert json.loads(capsys.readouterr().out) == DASHBOARD
