"""docs/your_model.md: its program runs where torch and Brevitas are, and its table of operators is that of the code."""

import ast
import importlib
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from brainsmith.transforms import integer, integer_layers
from brainsmith.transforms.integer import host_part, tabled_link
from brainsmith.transforms.lattice import links, staircases, truncations

PAGE = (Path(__file__).parents[1] / "docs" / "your_model.md").read_text()
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
BATCHES = "batch_of_one"
"""The module whose rules do not make layers."""


def is_there(*packages):
    return all(find_spec(package) for package in packages)


needs_brevitas = pytest.mark.skipif(
    not is_there("torch", "brevitas"), reason="needs torch and brevitas: see docs/your_model.md, Install"
)


def rules():
    """Return the operators of all tables of rules that make layers."""
    found = set(integer_layers._RULES)
    for file in Path(integer.__path__[0]).glob("*.py"):
        if file.stem not in ("__init__", BATCHES):
            module = importlib.import_module(f"{integer.__name__}.{file.stem}")
            found |= set(getattr(module, "_RULES", ()))
    return found


def named_by(function, module):
    """Return the operators that a function asks for with `is_standard`, by text or by the name of a tuple."""
    tree = ast.parse(Path(module.__file__).read_text())
    (body,) = (node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == function)
    found = set()
    for call in ast.walk(body):
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "is_standard":
            for given in call.args[1:]:
                found |= (
                    set(getattr(module, given.value.id)) if isinstance(given, ast.Starred) else {given.value}
                )
    return found


def operators():
    functions = named_by("link_of", links) | set(tabled_link.FUNCTIONS) | set(tabled_link.JOINING)
    made = rules()
    quantisers = {*staircases.QUANTISERS, "MultiThreshold", *named_in(truncations)}
    return {
        "layers": made,
        "thresholds": functions - made,
        "quantisers": quantisers,
        "host": set(host_part.OPERATORS) - made - functions,
    }


def named_in(module):
    return set(re.findall(r'node\.op_type == "(\w+)"', Path(module.__file__).read_text()))


def rows():
    lines = [line for line in PAGE.split("## Supported operators")[1].splitlines() if line.startswith("| ")]
    return {
        cells[1].strip(): set(re.findall(r"`(\w+)`", cells[2]))
        for cells in (line.split("|") for line in lines[2:])
    }


def test_the_table_of_operators_is_that_of_the_code():
    stated = dict(zip(operators(), rows().values(), strict=True))
    assert stated == operators()


@pytest.mark.slow
@needs_brevitas
def test_the_page_is_a_program_that_runs(tmp_path):
    """From the network to the comparison with torch, in one folder; the commands in between."""
    (tmp_path / ".brainsmith").mkdir()
    texts = {"python": [], "sh": [], "yaml": []}
    for language, text in BLOCK.findall(PAGE):
        texts.get(language, []).append(text)
    (tmp_path / "mine.yaml").write_text(texts["yaml"][0])
    (command,) = texts["sh"]
    *before, after = texts["python"]
    program = [*before, f"import subprocess\nsubprocess.run({command.split()!r}, check=True)", after]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", "\n".join(program)],
        cwd=tmp_path, env={**os.environ, "PATH": path}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 of 32 frames differ" in done.stdout
