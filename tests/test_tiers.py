"""Every file of tests is collected by the two commands that the README names, and every test by exactly one of them.

But for laws: one tries a part of their examples, the other all. And what one test says of a message is in the first.
"""

import ast
import os
import re
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


def collected(folder):
    """Return the ids of the tests that each tier's one command collects; one process imports the files once."""
    arguments = []
    for tier in TIERS:
        (command,) = commands(tier)
        arguments.append([*command[command.index("pytest") + 1 :], "-n", "0", *COLLECTING])
    program = f"import pytest\nfor words in {arguments}:\n    print('exit code', int(pytest.main(words)))"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    run = subprocess.run(
        [sys.executable, "-c", program],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.stdout.count("exit code 0\n") == len(TIERS), run.stdout + run.stderr
    told = run.stdout.split("exit code 0\n")[: len(TIERS)]
    return [[line for line in lines.splitlines() if "::" in line] for lines in told]


def test_the_two_commands_collect_each_test_once_and_laws_twice(copied):
    quick, slow = collected(copied)
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


FEWEST = 4
"""Words that belong together: fewer are no message."""
NO_MESSAGES = {"parts of the design"}
"""The unit of a synthesis' progress, which only a synthesis says."""
SOURCES = (".py", ".cpp", ".hpp", ".h", ".c")
BLOCK = re.compile(r"^(?=(?: {4})?(?:@|def |class )|\w)", re.MULTILINE)
SLOW_FILE = re.compile(r"^pytestmark = (?:\[\s*)?pytest\.mark\.slow", re.MULTILINE)
SLOW_TEST = re.compile(r"^ *@pytest\.mark\.slow$", re.MULTILINE)
LONG = re.compile(r'""".*?"""', re.DOTALL)
QUOTE = re.compile(r'[rf]*"|\\n|\\')
LITERAL = re.compile(r'(?<!")"((?:[^"\\\n]|\\.)+)"(?!")')
FILLED = re.compile(r"\{[^}]*\}|\\n")
WORD = re.compile(r"\w+")


def slow_and_fast():
    """Return the words of the tests that are marked as slow; and of all others, of what they share, of long texts."""
    texts = {True: [], False: []}
    for path in {*(ROOT / "tests").rglob("*.py")} - {Path(__file__)}:
        text = path.read_text()
        texts[False].extend(LONG.findall(text))
        text = LONG.sub("", text)
        whole = SLOW_FILE.search(text) is not None
        decorators, top, outer, is_slow = "", "", whole, whole
        for block in BLOCK.split(text) if "mark.slow" in text else [text]:
            if block.lstrip().startswith("@"):
                decorators += block
                continue
            marked = SLOW_TEST.search(decorators) is not None
            if not block.startswith(" "):
                top, outer, is_slow = block, whole or marked, whole or marked
            elif top.startswith("class "):  # but what a function defines belongs to it
                is_slow = outer or marked
            texts[is_slow].append(decorators + block)
            decorators = ""
    slow, fast = (words(QUOTE.sub(" ", "\n".join(texts[tier]))) for tier in (True, False))
    return slow, fast


def words(text):
    return f" {' '.join(WORD.findall(text))} "


def pieces():
    """Yield the words of each piece of a text in the package's sources, between what is filled in."""
    for path in (ROOT / "brainsmith").rglob("*"):
        if path.suffix in SOURCES:
            for literal in LITERAL.findall(LONG.sub("", path.read_text())):
                yield from map(words, FILLED.split(literal))


def test_no_message_is_asserted_by_slow_tests_alone():
    """As far as words show it: a message is a piece of a text of the package that is also in a test."""
    slow, fast = slow_and_fast()
    every = slow.split()
    assert len(every) > 10_000
    begins = set(zip(*(every[at:] for at in range(FEWEST)), strict=False))
    found = {piece for piece in pieces() if tuple(piece.split()[:FEWEST]) in begins and piece in slow}
    assert len(found) > 50
    assert {piece.strip() for piece in found if piece not in fast} == NO_MESSAGES
