"""`brainsmith watch`: a process that builds again when something is saved, whatever happens to the files."""

import os
import queue
import re
import shutil
import signal
import subprocess
import threading

import pytest

from brainsmith.cli.main import find_verb
from brainsmith.cli.watch import _shown, _stale_line, _time_to_first
from brainsmith.plugin.info import PluginInfo
from tests.build import graphs
from tests.cli.command import COMMAND, brainsmith, in_this_process

SECONDS = 180
"""How long a test waits for a line that comes in a second on a quiet machine."""

STEP = "from brainsmith import step\n\n\n@step\ndef mine(model, cfg):\n    return model  # {}\n"
WAITING = "waiting for changes; Ctrl-C ends"


def save(path, text):
    """Save as editors do: write another file, and rename it."""
    with open(f"{path}.new", "w") as file:
        file.write(text)
    os.replace(f"{path}.new", path)


class Watching:
    """A running watch, with the lines of its two outputs in the order in which they come."""

    def __init__(self, *words):
        self.process = subprocess.Popen(
            [*COMMAND, "watch", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
        )
        self._lines = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self._lines.put(line.rstrip("\n"))
        self._lines.put(None)

    def block(self):
        """Return the lines up to the next `waiting`."""
        found = []
        while (line := self._lines.get(timeout=SECONDS)) not in (WAITING, None):
            found.append(line)
        return found

    def end(self):
        self.process.send_signal(signal.SIGINT)
        assert self.process.wait(SECONDS) == 130
        return self.block()


@pytest.fixture
def project(project):
    graphs.quant_mlp().save("m.onnx")
    save("base.yaml", "hw_compiler: {steps: [cleanup, mine]}\n")
    save("b.yaml", "extends: base.yaml\n")
    save("plugins/mine.py", STEP.format(1))
    return project


@pytest.fixture
def watching(project):
    found = Watching("b.yaml", "m.onnx", "--output", "out", "--no-report")
    yield found
    found.process.kill()
    found.process.wait()
    found.process.stdout.close()


@pytest.mark.slow
def test_each_save_is_built_and_errors_do_not_end_the_watch(project, watching):
    first = watching.block()
    assert first[:2] == ["first build", "  ran     cleanup, mine"]
    assert first[2].startswith("  result  proven no: ")
    save("plugins/mine.py", STEP.format(2))
    shown = watching.block()
    assert shown[:2] == ["plugins/mine.py changed", "  ran     cleanup, mine"]
    assert re.fullmatch(
        r"  time    \d+ ms from save to the first step, \d+\.\d\d s in all, 2 steps of 2 ran", shown[3]
    )

    save("plugins/mine.py", "def (")
    problem = f"{project / 'plugins/mine.py'}:1:5: the file is not Python, so its plugins are not found: invalid syntax"
    assert watching.block() == [
        "plugins/mine.py changed",
        "error: base.yaml:1:32: step 'project:mine' is stale: its file is broken, and its last good version is not used",
        f"  {problem}",
        f"stale: step project:mine, until this is mended: {problem}",
    ]
    save("plugins/mine.py", STEP.format(2))
    mended = watching.block()
    assert mended[:2] == ["plugins/mine.py changed", "  ran     nothing: all steps are reused"]

    save("base.yaml", "hw_compiler: {steps: [cleanup, mien]}\n")
    assert watching.block()[:2] == [
        "base.yaml changed",
        "error: base.yaml:1:32: no step named 'mien'. Did you mean 'mine'?",
    ]
    save("base.yaml", "hw_compiler: {steps: [cleanup]}\n")
    assert watching.block()[1] == "  ran     nothing: all steps are reused"

    os.remove("m.onnx")
    assert watching.block() == ["m.onnx changed", "error: model m.onnx does not exist"]
    graphs.quant_mlp().save("m.onnx")
    assert watching.block()[:2] == ["m.onnx changed", "  ran     nothing: all steps are reused"]
    assert watching.end() == ["interrupted"]


SLOW_STEP = """import time
from pathlib import Path
from brainsmith import step

VERSION = {version}


@step
def mine(model, cfg):
    Path("began").touch()
    while not Path("go").exists():
        time.sleep(0.01)
    Path("ended{version}").write_text(str(VERSION))
    return model
"""


@pytest.mark.slow
def test_a_save_during_a_build_is_built_after_it_which_ends_with_what_it_began_with(project, watching):
    watching.block()
    save("plugins/mine.py", SLOW_STEP.format(version=2))
    began = project / "began"
    waiter = threading.Event()
    while not began.exists():
        assert watching.process.poll() is None
        waiter.wait(0.02)
    save("plugins/mine.py", SLOW_STEP.format(version=3))
    save("go", "")
    shown = watching.block()
    assert shown[0] == "plugins/mine.py changed"
    shown = watching.block()
    assert shown[0] == "plugins/mine.py changed"
    assert (project / "ended2").read_text() == "2"
    assert (project / "ended3").read_text() == "3"
    assert watching.end() == ["interrupted"]


@pytest.mark.slow
def test_a_plugin_folder_that_vanishes_and_is_made_again(project, watching):
    watching.block()
    shutil.move("plugins", "elsewhere")
    shown = watching.block()
    assert shown[0].endswith("plugins/mine.py changed")
    assert shown[1].startswith("error: base.yaml:1:32: no step named 'mine'")
    shutil.move("elsewhere", "plugins")
    assert watching.block()[1] == "  ran     nothing: all steps are reused"
    assert watching.end() == ["interrupted"]


def test_what_it_takes(project, capsys):
    done = in_this_process(capsys, "watch", "b.yaml")
    assert (done.returncode, done.stderr) == (
        2,
        "error: brainsmith watch needs MODEL: a quantised ONNX model\n  brainsmith watch --help shows its options\n",
    )
    assert find_verb(["watch"]).module == "brainsmith.cli.watch"


@pytest.mark.slow
def test_without_the_package_it_says_what_to_install(project):
    save("watchfiles.py", "raise ImportError('none')\n")
    done = brainsmith("watch", "b.yaml", "m.onnx", PYTHONPATH=str(project))
    assert (done.returncode, done.stdout, done.stderr) == (
        1,
        "",
        'error: watching files needs the package watchfiles: pip install "brainsmith[watch]"\n',
    )


def test_the_lines_of_a_block():
    assert _time_to_first(1.0, 1.1234) == "123 ms from save to the first step, "
    assert [_time_to_first(None, 1.0), _time_to_first(1.0, None), _time_to_first(2.0, 1.0)] == [""] * 3
    info = PluginInfo(
        name="mine", type="step", framework="project", reference="m:mine", extra={"stale": "a.py:1: no\n  x"}
    )
    assert _stale_line(info) == "stale: step project:mine, until this is mended: a.py:1: no"


def test_a_path_is_shown_as_seen_from_here(project):
    assert _shown(str(project / "plugins" / "a.py")) == "plugins/a.py"
    assert _shown("/elsewhere/a.py") == "/elsewhere/a.py"
