"""`brainsmith diff`: two real builds, what is printed of them, and folders that are none."""

import json

import pytest

from tests.build.test_build_differences import REPORT, changed
from tests.cli.command import in_this_process


@pytest.fixture
def builds(elsewhere):
    slower = changed(
        blueprint={"target": {"part": "xc7z020", "clock_ns": 10.0, "fps": 1000}},
        layers=[{**REPORT["layers"][0], "lut": 400}, REPORT["layers"][1]],
        estimate={**REPORT["estimate"], "fps": 500.0, "lut": 450},
    )
    for name, report in (("one", REPORT), ("other", slower)):
        (elsewhere / name).mkdir()
        (elsewhere / name / "report.json").write_text(json.dumps(report))
    return elsewhere


def test_each_section_is_named_and_numbers_say_by_how_much(builds, capsys):
    done = in_this_process(capsys, "diff", "one", "other")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        "model: the same\n"
        "blueprint: 1 difference\n"
        "  target.clock_ns  5  10  +100.0%\n"
        "plugins: the same\n"
        "steps: the same\n"
        "layers: 1 difference\n"
        "  MVAU_0: lut  500  400  -20.0%\n"
        "figures: 2 differences\n"
        "  fps  1,000  500  -50.0%\n"
        "  lut  550    450  -18.2%\n"
        "verification: the same\n"
    )


def test_as_a_document_and_of_a_build_with_itself(builds, capsys):
    document = json.loads(in_this_process(capsys, "diff", "one", "other", "--json").stdout)
    assert document["layers"] == [{"what": "MVAU_0: lut", "before": 500, "after": 400}]
    assert document["error"] is None and document["model"] == []
    same = in_this_process(capsys, "diff", "one", "one").stdout
    assert same.splitlines() == [f"{line.split(':')[0]}: the same" for line in same.splitlines()]


def test_long_lists_are_cut_on_a_terminal(builds, capsys):
    many = changed(layers=[{"name": f"L{at}", "op_type": "MVAU_rtl"} for at in range(60)])
    (builds / "other" / "report.json").write_text(json.dumps(many))
    lines = in_this_process(capsys, "diff", "one", "other").stdout.splitlines()
    assert "layers: 62 differences" in lines and "  ... 22 more, which --json prints" in lines


def test_a_folder_that_is_no_build_is_refused(builds, capsys):
    (builds / "none").mkdir()
    done = in_this_process(capsys, "diff", "one", "none")
    assert done.returncode == 2
    assert done.stderr.startswith("error: none is no folder of a build: it has no report.json\n")
    (builds / "none" / "report.json").write_text("{")
    done = in_this_process(capsys, "diff", "none", "one")
    assert done.returncode == 1
    assert done.stderr == (
        "error: none/report.json cannot be read as the report of a build: Expecting property name enclosed in double "
        "quotes: line 1 column 2 (char 1)\n  build it again\n"
    )
