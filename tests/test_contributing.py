"""CONTRIBUTING.md: its files are written and its commands run in a copy of the checkout; the files that it names exist."""

import os
import re
import shlex
import shutil
import subprocess
import sys

import pytest

from tests.test_docs import BLOCK, FILE, ROOT, load

PAGE = (ROOT / "CONTRIBUTING.md").read_text()
SECTIONS = dict(re.findall(r"^## (.+)\n((?:(?!^## ).*\n)*)", PAGE, re.MULTILINE))
OURS = ("python", "brainsmith", "ruff")
"""The commands that are run; the tiers of `make` and the new environment of `make release` take too long."""


def named_files(section):
    return re.findall(r"^\| `([\w/.]+)` \|", SECTIONS[section], re.MULTILINE)


@pytest.mark.slow
def test_what_the_page_says_is_done_in_a_copy(tmp_path):
    for name in load("tools/release.py").tracked(ROOT):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, tmp_path / name)
    path = f"{os.path.dirname(sys.executable)}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(tmp_path)}
    printed, at = {}, 0
    for block in BLOCK.finditer(PAGE):
        language, content = block.groups()
        named = FILE.search(PAGE[at : block.start()])
        at = block.end()
        if named:
            (tmp_path / named.group(1)).write_text(content)
        for line in content.splitlines() if language == "sh" else ():
            words = shlex.split(line, comments=True)
            if words[0] not in OURS or "MODEL" in words:
                continue
            done = subprocess.run(
                words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
            printed[line] = done.stdout
    written = "python -m pytest tests/transforms/test_remove_repeated_relu.py"
    assert re.search(r"\b1 passed\b", printed[written])
    checked = printed["brainsmith plugins check brainsmith/transforms/remove_repeated_relu.py"]
    assert "1 plugin in 1 file, no problems" in checked
    assert len(printed) == 8


def test_the_files_that_the_tables_name_are_there():
    kernel, key = named_files("Add a kernel"), named_files("Add a key to blueprints")
    assert (len(kernel), len(key)) == (9, 5)
    assert [name for name in kernel + key if not (ROOT / name).is_file()] == []
    assert [name for name in key if "strict" not in (ROOT / name).read_text()] == []
    assert [name for name in kernel if "softmax" not in (ROOT / name).read_text().lower()] == []


def test_each_command_of_make_is_there():
    named = set(
        re.findall(r"\bmake ([a-z][\w-]*)", "\n".join(re.findall(r"^make.*|`make .*?`", PAGE, re.MULTILINE)))
    )
    assert named == {"install", "check", "test", "test-slow", "docs", "release"}
    makefile = (ROOT / "Makefile").read_text()
    assert [name for name in named if not re.search(rf"^{name}:", makefile, re.MULTILINE)] == []


def test_a_release_names_every_place_that_states_the_version():
    stated = {"pyproject.toml", *load("tools/release.py").VERSIONS}
    assert [name for name in stated if name not in SECTIONS["Release"]] == []
