"""The verb wave: what it prints and writes, and what it says of misuse."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest

from tests.cli.command import in_this_process
from tests.rtl.drawing.packed import write_small


@pytest.fixture
def built(tmp_path):
    """A build's folder with a package."""
    return write_small(tmp_path / "build")


@pytest.fixture
def wave(tmp_path, monkeypatch, capsys):
    """Run the verb in the folder that holds `build`."""
    monkeypatch.chdir(tmp_path)

    def run(*words):
        done = in_this_process(capsys, "wave", *words)
        return done.returncode, done.stdout, done.stderr

    return run


def test_a_picture_is_written_and_what_it_shows_is_printed(built, wave, tmp_path):
    code, shown, said = wave("build", "--frame", "1", "--links", "slow", "--output", "a.svg")
    assert (code, said) == (0, "")
    assert shown.splitlines() == [
        "design    small_design, 2 links",
        "frame     1, 7 cycles from its first beat in to its last beat out",
        "interval  8 cycles",
        "picture   a.svg",
    ]
    assert ET.parse(tmp_path / "a.svg").getroot().get("aria-label") == "Handshakes of frame 1 of small_design"


def test_of_a_changed_package_it_is_said_what_the_picture_shows(built, wave):
    golden = built / "accelerator" / "golden" / "m_axis_0.npy"
    np.save(golden, np.load(golden) + 1)
    code, _, said = wave("build")
    assert (code, said) == (
        0,
        "warning: build: golden/m_axis_0.npy is not as it was packed; the picture shows the links of design.json\n",
    )


def test_no_package(wave):
    assert wave("build") == (
        1,
        "",
        "error: build holds no accelerator: there is no accelerator/manifest.json and no manifest.json in it\n"
        "  build one: brainsmith build MODEL --blueprint FILE --output DIR --produce simulated\n",
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--frame", "-1"), "--frame must be a whole number, 0 or more, not '-1'"),
        (("--frame", "x"), "--frame must be a whole number, 0 or more, not 'x'"),
        (("--frame", "5"), "there is no frame 5: build/accelerator has 5 golden frames, 0 to 4"),
        (("--links", " , "), "--links must name links or layers, with commas between them, not ' , '"),
        (
            ("--links", "fast,slwo"),
            "no link and no layer is named 'slwo'. Did you mean 'slow'?\n"
            "  the links are s_axis_0, fast_out0_V, slow_out0_V",
        ),
        (("--cycles", "9"), "--cycles must be two numbers, the smaller first, such as 100-200, not '9'"),
        (("--cycles", "9-9"), "--cycles must be two numbers, the smaller first, such as 100-200, not '9-9'"),
        (("--cycles", "a-9"), "--cycles must be two numbers, the smaller first, such as 100-200, not 'a-9'"),
        (("--output", "build"), "build: the picture cannot be written: it is a folder\n  name a file in it"),
        (
            ("--output", "no/a.svg"),
            "no/a.svg: the picture cannot be written: there is no folder no\n  make it first",
        ),
    ],
)
def test_misuse(built, wave, words, said):
    assert wave("build", *words) == (1 if words[0] == "--output" else 2, "", f"error: {said}\n")
