"""What the dashboard answers, and to whom."""

import json
import re
import shutil
import socket

import httpx
import pytest

from brainsmith.build.workspace import Workspace
from brainsmith.dashboard.dashboard_server import DashboardServer
from brainsmith.errors import DashboardError
from brainsmith.web.page import page as report_page
from tests.web.pages import Page

from .conftest import put


@pytest.fixture
def server(tree):
    """The server, at a free port."""
    with DashboardServer(tree, 0) as server:
        yield server


@pytest.fixture
def client(server):
    """A client that has opened the address with the token."""
    with httpx.Client(base_url=f"http://127.0.0.1:{server.port}", follow_redirects=True) as client:
        assert str(client.get(server.url).url) == f"http://127.0.0.1:{server.port}/"
        yield client


def page(answer):
    assert answer.status_code == 200, answer.text
    parsed = Page(answer.text)
    assert parsed.problems == []
    return parsed


def test_only_who_knows_the_token_is_let_in_and_only_under_its_own_name(server):
    base, token = f"http://127.0.0.1:{server.port}", f"/?token={server.token}"
    refused = "open the address that brainsmith dashboard printed: it has the token"
    with httpx.Client(base_url=base) as client:
        for cookie in ("", f"brainsmith-dashboard-{server.port}=guess"):
            for path in (
                "/",
                "/?token=wrong",
                "/builds",
                "/build/good/-/report.html",
                "/dashboard.js",
                "/nowhere",
            ):
                answer = client.get(path, headers={"cookie": cookie})
                assert (answer.status_code, answer.text) == (403, refused)
        answer = client.get(token, headers={"host": f"evil.example:{server.port}"})
        assert (answer.status_code, answer.text) == (421, "this server has another name")
        first = client.get(token)
    assert (first.status_code, first.headers["location"]) == (303, "/")
    assert "HttpOnly" in first.headers["set-cookie"] and "SameSite=strict" in first.headers["set-cookie"]


def test_it_only_reads(client, tree):
    for method in ("POST", "PUT", "DELETE", "PATCH"):
        assert client.request(method, "/").status_code == 405
    answer = client.get("/")
    assert {name: answer.headers[name] for name in ("cache-control", "x-frame-options", "x-content-type-options")} == {
        "cache-control": "no-store", "x-frame-options": "DENY", "x-content-type-options": "nosniff",
    }  # fmt: skip


def test_the_list_has_all_builds_with_result_and_figures(client, tree):
    parsed = page(client.get("/"))
    assert "Running" not in parsed.text
    assert "good mlp.onnx xczu7ev-ffvc1156-2-e Verified 255,102 7,380 14 18 97.22 %" in parsed.text
    assert "bad/failed mlp.onnx xczu7ev-ffvc1156-2-e Build failed" in parsed.text
    assert re.search(r"broken – – \S+broken/report.json", parsed.text)
    assert [a["value"] for a in parsed.all("input", type="checkbox")].count("good") == 1
    assert {a["href"] for a in parsed.all("a") if "/-/" in a["href"]} == {
        "/build/good/-/report.html", "/build/deep/er/other/-/report.html", "/build/bad/failed/-/report.html",
    }  # fmt: skip
    workspace = Workspace(tree / "now")
    assert "Running now 0 steps done" in page(client.get("/builds")).text
    workspace.discard()


def test_a_folder_without_builds_says_so(client, tree):
    for inner in tree.iterdir():
        shutil.rmtree(inner)
    assert "No build has ended in this folder or below it." in page(client.get("/")).text


def test_builds_are_compared_by_figures_steps_layers_and_schematics(client):
    parsed = page(client.get("/compare?build=good&build=deep/er/other"))
    assert parsed.text.startswith("Builds side by side · BrainSmith")
    assert "LUT 7,380 3,690 -50.0%" in parsed.text
    assert "Accuracy 97.22 % 97.50 % +0.28 points" in parsed.text
    assert "Interval in cycles 784 784" in parsed.text
    steps = parsed.text.partition("Steps With the time")[2].partition("Layers")[0]
    assert re.search(r"3 \w+, [\d.]+ \w?s(, reused)? – differs", steps)
    assert len([a for a in parsed.all("svg") if "graph" in a.get("class", "")]) == 2
    ids = [a["id"] for _, a in parsed.elements if "id" in a]
    assert len(ids) == len(set(ids))


def test_a_build_without_a_figure_is_the_one_that_differs_wherever_it_stands(client, tree):
    file = tree / "bad" / "failed" / "report.json"
    report = json.loads(file.read_text())
    report["estimate"]["lut"] = None
    file.write_text(json.dumps(report))
    for builds, row in {
        ("bad/failed", "good", "deep/er/other"): "– differs 7,380 3,690 -50.0%",
        ("good", "bad/failed", "deep/er/other"): "7,380 – differs 3,690 -50.0%",
    }.items():
        parsed = page(client.get("/compare?" + "&".join(f"build={one}" for one in builds)))
        assert f"LUT {row}" in parsed.text


@pytest.mark.parametrize(
    ("query", "status", "text"),
    [
        ("build=good", 400, "choose 2 to 4 builds"),
        ("build=good&build=good", 400, "choose 2 to 4 builds"),
        ("&".join(f"build={at}" for at in range(5)), 400, "choose 2 to 4 builds"),
        ("build=good&build=../x", 404, "there is no build ../x that can be read"),
        ("build=good&build=broken", 404, "there is no build broken that can be read"),
    ],
)
def test_what_cannot_be_compared_is_refused(client, query, status, text):
    answer = client.get(f"/compare?{query}")
    assert (answer.status_code, answer.text, answer.headers["content-type"]) == (
        status, text, "text/plain; charset=utf-8",
    )  # fmt: skip


def test_files_that_the_report_names_are_served_and_no_others(client, tree):
    assert "the report" in client.get("/build/good/-/report.html").text
    assert client.get("/build/good/-/build.log").headers["content-type"] == "text/plain; charset=utf-8"
    model = client.get("/build/good/-/model.onnx")
    assert (model.content, model.headers["content-disposition"]) == (
        b"\x08\x07",
        "attachment; filename*=utf-8''model.onnx",
    )
    (tree / "deep" / "er" / "other" / "model.onnx").symlink_to("/etc/passwd")
    for path in (
        "good/-/notes.txt", "good/-/../notes.txt", "good/-/%2e%2e/good/notes.txt", "good/-/..%2f..%2fsecret",
        "nowhere/-/report.html",
        "deep/er/other/-/model.onnx", "someone/-/report.json", "broken/-/report.html",
    ):  # fmt: skip
        assert client.get(f"/build/{path}").status_code == 404, path


def test_hostile_texts_of_reports_are_shown_as_text(client, tree, report):
    bad = "</td><script>alert(1)</script>"
    report["model"] = {"name": bad, "file": bad}
    report["layers"][0]["name"] = bad
    put(tree / "x<y&z", report)
    for answer in (client.get("/"), client.get("/compare", params={"build": ["good", "x<y&z"]})):
        assert page(answer).all("script") == [{"src": "/dashboard.js"}]


def test_a_page_that_somebody_else_wrote_runs_nothing_but_our_script(client, tree, report):
    (tree / "good" / "report.html").write_text("<script>fetch('/')</script>", "utf-8")
    answer = client.get("/build/good/-/report.html")
    rules = dict(rule.split(" ", 1) for rule in answer.headers["content-security-policy"].split("; "))
    own = Page(report_page(report)).all("meta")
    (policy,) = (tag["content"] for tag in own if tag.get("http-equiv") == "Content-Security-Policy")
    assert rules == {
        "default-src": "'none'",
        "img-src": "data:",
        "style-src": "'unsafe-inline'",
        "script-src": policy.partition("script-src ")[2],
        "form-action": "'none'",
        "base-uri": "'none'",
    }
    assert rules["script-src"].startswith("'sha256-")
    assert "content-security-policy" not in client.get("/build/good/-/report.json").headers


def test_a_port_that_is_taken_and_a_folder_that_does_not_exist_are_refused(server, tree):
    with pytest.raises(DashboardError) as caught:
        DashboardServer(tree, server.port)
    assert str(caught.value) == (
        f"the dashboard cannot listen at 127.0.0.1:{server.port}: Address already in use\n"
        "  name another port with --port, or 0 for a free one"
    )
    with pytest.raises(DashboardError) as caught:
        DashboardServer(tree / "nowhere")
    assert str(caught.value) == f"{tree}/nowhere is not a folder: name one with builds in it or below it"


def test_other_machines_cannot_connect(server):
    with socket.socket() as other, pytest.raises(OSError):
        other.settimeout(2)
        other.connect(
            (socket.gethostbyname(socket.gethostname()).replace("127.0.0.1", "127.0.0.2"), server.port)
        )
