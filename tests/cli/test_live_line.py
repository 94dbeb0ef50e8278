"""What goes on: a line that is replaced in a terminal, a line every ten seconds in a log."""

import io

import pytest

from brainsmith import progress
from brainsmith.cli import live_line as live
from brainsmith.cli.live_line import LiveLine
from brainsmith.cli.main import main
from brainsmith.cli.terminal import Terminal
from brainsmith.progress import Work
from tests.cli.command import on_terminal
from tests.cli.test_build import job  # noqa: F401  (a fixture)
from tests.cli.test_terminal import Screen

STEP = """\
import time

from brainsmith.plugin.core import step
from brainsmith.progress import Task


@step
def slow(model, cfg):
    with Task("counting", 3, "sheep") as task:
        for _ in range(3):
            task.add()
            time.sleep(PAUSE)
    return model
"""


@pytest.fixture
def clock(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(live.time, "monotonic", lambda: now[0])
    return now


def test_a_log_has_a_line_every_ten_seconds(clock):
    said = []
    line = LiveLine(Terminal(io.StringIO()), said.append)
    for _ in range(25):
        clock[0] += 1
        line.works((Work("sizing", 2, 12, "FIFOs", clock[0]), Work("simulating", 0, None, "", 1)))
    assert said == [
        "sizing: 2 of 12 FIFOs, 10 s, about 50 s left; simulating, 1 s",
        "sizing: 2 of 12 FIFOs, 20 s, about 1 min 40 s left; simulating, 1 s",
    ]
    line.clear()  # whatever is printed then is a line, too
    clock[0] += 9
    line.show("nothing yet")
    assert len(said) == 2


def test_a_terminal_has_one_line(clock, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    said, screen = [], Screen()
    line = LiveLine(Terminal(screen), said.append)
    clock[0] += 20
    line.show("compiling, 20 s")
    line.clear()
    assert (screen.getvalue(), said) == ("\r\x1b[Kcompiling, 20 s\r\x1b[K", [])


@pytest.mark.parametrize(
    ("works", "shown"),
    [
        (
            (Work("sizing FIFOs", 0, None, "", 16), Work("simulating 'finn_design'", 272, 1000, "beats", 2)),
            "simulating 'finn_design': 272 of 1,000 beats, 2 s",
        ),
        (
            (
                Work("sizing FIFOs", 0, None, "", 16),
                Work("compiling layers", 2, 53, "layers", 12),
                Work("g++ (design 'layer')", 0, None, "", 3),
            ),
            "compiling layers: 2 of 53 layers, 12 s, about 5 min 6 s left",
        ),
        (
            (Work("each layer alone", 1, 30, "runs", 2), Work("simulating 'finn_design'", 1, 9, "beats", 1)),
            "each layer alone: 1 of 30 runs, 2 s",
        ),
        ((Work("sizing FIFOs", 0, None, "", 5), Work("g++", 0, None, "", 4)), "sizing FIFOs, 5 s; g++, 4 s"),
    ],
    ids=["the outermost counts nothing", "only one counts", "all count", "there is room"],
)
def test_a_narrow_terminal_shows_what_is_counted(clock, monkeypatch, works, shown):
    monkeypatch.setenv("TERM", "xterm")
    said, screen = [], Screen()
    begin = "[ 9/12] size: "
    LiveLine(Terminal(screen), said.append).works(works, begin)
    assert screen.getvalue() == f"\r\x1b[K{begin}{shown}"


@pytest.fixture
def sheep(job, elsewhere):  # noqa: F811
    """A job whose second step counts sheep; return its words, without verification."""
    (elsewhere / ".brainsmith").mkdir()
    (elsewhere / "plugins").mkdir()
    (elsewhere / "short.yaml").write_text("hw_compiler:\n  steps: [cleanup, slow]\n")

    def words(pause):
        (elsewhere / "plugins" / "slow.py").write_text(STEP.replace("PAUSE", str(pause)))
        return (*job, "--no-verify", "--no-report")

    return words


def test_in_a_pipe_a_build_prints_how_far_a_step_is(sheep, capsys, monkeypatch):
    monkeypatch.setattr(live, "SECONDS", 0.0)
    monkeypatch.setattr(progress, "INTERVAL", 0.0)
    assert main(sheep(0)) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1:5] == [f"[2/2] slow: counting: {done} of 3 sheep, 0 s" for done in range(4)]
    assert lines[5].startswith("[2/2] slow     ")


@pytest.mark.slow
def test_on_a_terminal_how_far_a_step_is_is_replaced(sheep):
    status, shown = on_terminal(*sheep(0.55))
    assert status == 0
    assert "\r\x1b[K[2/2] slow ...\r\x1b[K[2/2] slow: counting: " in shown
    assert "\r\x1b[K[2/2] slow     " in shown


@pytest.mark.slow
def test_on_a_terminal_an_error_has_a_line_of_its_own(sheep, elsewhere):
    status, shown = on_terminal(*sheep("1 / 0"))
    assert status == 1
    where = f"{elsewhere}/plugins/slow.py:12"
    error = f"error: step 'slow' failed: ZeroDivisionError: division by zero ({where})"
    assert f"\r\x1b[K[2/2] slow ...\r\x1b[K{error}\n" in shown, shown
