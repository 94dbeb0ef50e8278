"""`brainsmith dashboard`."""

import re
import signal
import subprocess

import httpx
import pytest

from brainsmith.build.workspace import Workspace
from brainsmith.cli.dashboard import HINT
from brainsmith.web.page import render
from tests.cli.command import COMMAND, in_this_process
from tests.dashboard.conftest import report, tree  # noqa: F401  (fixtures)
from tests.web.catalogue.conftest import Tab, chromium  # noqa: F401  (so too)


def test_what_cannot_be_served_is_an_error(elsewhere, capsys):
    done = in_this_process(capsys, "dashboard", "nowhere")
    assert (done.returncode, done.stderr) == (
        1, "error: nowhere is not a folder: name one with builds in it or below it\n",
    )  # fmt: skip
    assert HINT == "the address has a token, and works on this machine alone; Ctrl-C ends it"
    done = in_this_process(capsys, "dashboard", ".", "--port", "x")
    assert (done.returncode, done.stderr.splitlines()[0]) == (
        2, "error: --port must be a whole number up to 65535, not 'x'",
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_until_it_is_stopped(tree, number):  # noqa: F811
    command = [*COMMAND, "dashboard", str(tree), "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    first, second = process.stdout.readline(), process.stdout.readline()
    shown, url = re.fullmatch(
        r"builds of (\S+): (http://127\.0\.0\.1:\d+/\?token=[\w-]{32})\n", first
    ).groups()
    assert shown == str(tree)
    with httpx.Client(follow_redirects=True) as client:
        assert "deep/er/other" in client.get(url).text
    process.send_signal(number)
    assert second == "  the address has a token, and works on this machine alone; Ctrl-C ends it\n"
    assert process.communicate(timeout=20)[0] == "stopped\n"
    assert process.returncode == 0


@pytest.fixture
def opened(chromium, tree):  # noqa: F811
    """Open the dashboard in a real browser, whose console must stay empty."""
    from brainsmith.dashboard.dashboard_server import DashboardServer

    tabs = []
    with DashboardServer(tree, 0) as server:

        def make(width=1400, scheme="light"):
            tabs.append(Tab(chromium, tree, viewport={"width": width, "height": 900}, color_scheme=scheme))
            tabs[-1].page.goto(server.url)
            return tabs[-1]

        yield make
        for tab in tabs:
            tab.close()
            assert tab.said == []
            assert [
                url for url in tab.asked if not url.startswith((f"http://127.0.0.1:{server.port}/", "data:"))
            ] == []


@pytest.mark.slow
def test_a_build_that_runs_is_shown_live_and_what_is_chosen_stays_so(opened, tree):  # noqa: F811
    shown = opened()
    page = shown.page
    assert page.locator(".running li").count() == 0
    page.get_by_label("Compare good").check()
    page.get_by_role("button", name="Compare").focus()
    workspace = Workspace(tree / "now")
    (workspace.staging / "checkpoints").mkdir()
    (workspace.staging / "checkpoints" / "01_cleanup.onnx").write_text("")
    page.locator(".running li").wait_for(timeout=10_000)
    assert page.text_content(".running li").startswith("now1 step donelast: cleanup")
    assert page.get_by_label("Compare good").is_checked() and shown.focused == "Compare"
    workspace.discard()
    page.locator(".running li").wait_for(state="detached", timeout=10_000)
    assert page.get_by_label("Compare good").is_checked()


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [500, 1400])
def test_builds_are_compared_in_a_browser_by_keyboard_without_violations(opened, width, scheme):
    shown = opened(width, scheme)
    page = shown.page
    assert shown.violations() == {}
    for name in ("good", "deep/er/other"):
        page.get_by_label(f"Compare {name}").focus()
        page.keyboard.press("Space")
    page.get_by_role("button", name="Compare").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/compare?*")
    assert page.title() == "Builds side by side · BrainSmith"
    assert page.locator("svg.graph").count() == 2
    assert shown.violations() == {}
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == {"light": "rgb(244, 245, 247)", "dark": "rgb(16, 21, 27)"}[scheme]
    page.click(".links a >> nth=0")
    page.wait_for_url("**/-/report.html")
    assert page.title() == "the report"


@pytest.mark.slow
def test_a_report_that_this_version_made_works_under_the_policy_of_the_server(opened, tree, report):  # noqa: F811
    render(report, tree / "good" / "report.html")
    page = opened().page
    page.locator('a[href="/build/good/-/report.html"]').first.click()
    page.wait_for_url("**/-/report.html")
    assert [
        tools.get_attribute("data-tools")
        for tools in page.locator(".tools").all()
        if tools.get_attribute("hidden") is None
    ] == ["before", "after"]
    page.locator("table.data thead button").first.click()  # the script runs: a click sorts
    assert page.locator("table.data th[aria-sort]").count() == 1


@pytest.mark.slow
def test_the_script_of_a_report_that_somebody_else_wrote_does_not_run(opened, tree):  # noqa: F811
    (tree / "good" / "report.html").write_text(
        '<!doctype html><title>hostile</title><link rel="icon" href="data:,"><form action="/builds"></form>\n'
        "<script>document.title = 'taken over'; document.forms[0].submit()</script>\n"
        '<p onmouseover="document.title = 1">move here</p><img src="/builds">\n'
    )
    shown = opened()
    page = shown.page
    page.goto(page.url.partition("?")[0] + "build/good/-/report.html")
    page.get_by_text("move here").hover()
    assert page.title() == "hostile" and page.url.endswith("/-/report.html")
    refused = [said for said in shown.said if "Content Security Policy directive" in said]
    assert len(refused) == 3  # the script, what a movement of the mouse would run, and the picture
    others = [said for said in shown.said if said not in refused]
    assert others == [f"{page.url.partition('/build/')[0]}/builds cannot be loaded"]
    shown.said.clear()
