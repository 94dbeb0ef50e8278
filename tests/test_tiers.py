"""Every file of tests is collected by the two commands that the README names, and every test by exactly one of them.

But for laws: one tries a part of their examples, the other all.
"""

import ast
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TIERS = ("test", "test-slow")
STUB = """
import pytest

def test_quick(): ...

@pytest.mark.slow
def test_slow(): ...
"""
KINDS = """
from hypothesis import given, strategies

@given(strategies.integers())
def test_law(number): ...

@pytest.mark.parametrize("case", ["quick", pytest.param("slow", marks=pytest.mark.slow)])
def test_cases(case): ...
"""
COLLECTING = ("--collect-only", "--noconftest", "--assert=plain", "-q")
HOOKS = {"pytest_collection_modifyitems", "pytest_collection_finish"}
"""The hooks that a conftest may have: with others it could hide a file (`collect_ignore`, `pytest_ignore_collect`)."""


@pytest.fixture(scope="module")
def copied(tmp_path_factory):
    """A checkout whose folders and names are this one's; each file of tests holds two tests, the first one more kinds."""
    folder = tmp_path_factory.mktemp("checkout")
    shutil.copy(ROOT / "pyproject.toml", folder)
    for at, path in enumerate(files_of_tests()):
        copy = folder / path
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(STUB if at else STUB + KINDS)
    for path in (ROOT / "tests").rglob("__init__.py"):
        (folder / path.relative_to(ROOT)).touch()
    return folder


def files_of_tests():
    """Return the files of tests, relative to the checkout."""
    return sorted(path.relative_to(ROOT) for path in (ROOT / "tests").rglob("test_*.py"))


def commands(tier):
    """Return the commands of pytest that `make` would run for a tier."""
    plan = subprocess.run(
        ["make", "--dry-run", "--no-print-directory", tier],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [shlex.split(line) for line in plan.stdout.splitlines() if "-m pytest" in line]


def collected(tier, folder):
    """Return the ids of the tests that a tier's one command collects."""
    (command,) = commands(tier)
    arguments = command[command.index("pytest") + 1 :]
    own = [sys.executable, "-m", "pytest", *arguments, "-n", "0", *COLLECTING]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    run = subprocess.run(own, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    return [line for line in run.stdout.splitlines() if "::" in line]


def test_the_two_commands_collect_each_test_once_and_laws_twice(copied):
    quick, slow = (collected(tier, copied) for tier in TIERS)
    files = files_of_tests()
    kinds = {"quick": ["test_law", "test_cases[quick]"], "slow": ["test_law", "test_cases[slow]"]}
    for found, tier in ((quick, "quick"), (slow, "slow")):
        expected = [f"{path}::test_{tier}" for path in files] + [
            f"{files[0]}::{test}" for test in kinds[tier]
        ]
        assert sorted(found) == sorted(expected)


@pytest.mark.parametrize(
    "path", sorted((ROOT / "tests").rglob("conftest.py")), ids=lambda path: str(path.parent.name)
)
def test_no_conftest_hides_a_file(path):
    module = ast.parse(path.read_text())
    names = {node.name for node in module.body if isinstance(node, ast.FunctionDef)}
    names |= {node.id for node in ast.walk(module) if isinstance(node, ast.Name)}
    assert {name for name in names if name.startswith(("pytest_", "collect_"))} <= HOOKS


def test_all_examples_of_the_laws_are_tried_by_the_second_command():
    assert ["LAWS=all" in commands(tier)[0] for tier in TIERS] == [False, True]


def test_the_commands_are_those_of_the_readme_and_of_ci():
    run = (ROOT / ".ci" / "run").read_text().splitlines()
    assert [line for line in run if line.startswith("make test")] == [f"make {tier}" for tier in TIERS]
    readme = (ROOT / "README.md").read_text()
    assert [tier for tier in TIERS if f"make {tier} " not in readme and f"`make {tier}`" not in readme] == []
