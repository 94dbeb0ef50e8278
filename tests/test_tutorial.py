"""The tutorial of an op, followed to the letter: its files, its commands and its program."""

import shutil
import sys

import pytest

from tests.native.building import expect_cargo, run_tool
from tests.test_docs import ROOT, blocks, run

PAGE = "docs/tutorial_op.md"


@pytest.fixture
def project(tmp_path):
    shutil.copytree(ROOT / "examples", tmp_path / "examples", ignore=shutil.ignore_patterns("target"))
    for name in (".brainsmith", "plugins"):
        (tmp_path / name).mkdir()
    definition, *_ = blocks(PAGE, "python")
    (tmp_path / "plugins" / "squareplus.py").write_text(definition)
    return tmp_path


@pytest.mark.slow
def test_what_it_says_of_python(project):
    (shown, _), (_, check, train, export, _) = blocks(PAGE, "sh"), blocks(PAGE, "python")
    assert "op project:squareplus" in run(shown.split(), project)
    checked, accuracy, nodes = run(
        [sys.executable, "-c", "\n".join([check, train, export])], project
    ).splitlines()
    assert checked.startswith("squareplus: backward is the derivative of forward at 10 points")
    assert float(accuracy.partition("%")[0]) >= 75
    assert nodes == "['Quant', 'MatMul', 'squareplus', 'Quant', 'MatMul']"


@pytest.mark.slow
def test_what_it_says_of_rust(project):
    expect_cargo()
    (_, build), (_, check, train, export, both) = blocks(PAGE, "sh"), blocks(PAGE, "python")
    (project / "squareplus.rs").write_text(blocks(PAGE, "rust")[0])
    run_tool(["sh", "-e", "-c", build], project)
    printed = run([sys.executable, "-c", "\n".join([check, train, export, both])], project).splitlines()
    assert printed[-3].startswith("rust_squareplus: backward is the derivative of forward at 10 points")
    assert printed[-2] == "['squareplus', 'rust_squareplus', 'Sub']"
    assert 0 < float(printed[-1].removeprefix("greatest difference ")) < 3e-7
