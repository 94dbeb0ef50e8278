"""docs/starting.md is true, and so are Dockerfile and .devcontainer: they run the README's commands and nothing else."""

import json
import re
import shlex
import sys
from pathlib import Path

import pytest

from brainsmith.scaffold import KINDS
from brainsmith.scaffold.new_project import FILES, SCHEMA
from brainsmith.scaffold.plugin_names import check_plugin_name
from tests.test_docs import ROOT, blocks, run

PAGE = (ROOT / "docs" / "starting.md").read_text()
README = {
    line.partition("#")[0].strip() for block in blocks("README.md", "sh") for line in block.splitlines()
}
DOCKERFILE = (ROOT / "Dockerfile").read_text()


@pytest.mark.slow
def test_the_commands_of_the_page_do_what_it_says(tmp_path):
    printed, folder = {}, tmp_path
    for block in blocks("docs/starting.md", "sh"):
        folder = tmp_path
        for line in block.splitlines():
            words = shlex.split(line)
            if words[0] == "cd":
                folder = tmp_path / words[1]
                continue
            words = [sys.executable, *words[1:]] if words[0] == "python" else words
            printed[line] = run(words, folder)
    assert len(printed) == 7
    assert "2 passed" in printed["python -m pytest"]
    assert "1 passed" in printed["python -m pytest acme-plugins"]
    assert "no problems" in printed["brainsmith plugins check plugins --load"]


def test_the_tables_name_each_file_of_a_project_and_each_kind_of_plugin():
    for file in (*FILES, SCHEMA):
        assert f"| `{file}` |" in PAGE or f"| `{Path(file).parent}/` |" in PAGE
    rows = re.findall(r"^\| `(\w+)` \| `(\w+)` \|", PAGE, re.MULTILINE)
    assert list(dict.fromkeys(kind for kind, _ in rows)) == [kind for kind in KINDS if kind != "package"]
    for kind, name in rows:
        check_plugin_name(kind, name)


def test_the_image_runs_a_command_of_the_readme():
    steps = re.findall(r"^([A-Z]+) (.+)$", DOCKERFILE, re.MULTILINE)
    assert {name for name, _ in steps} == {"FROM", "WORKDIR", "COPY", "RUN", "ENV", "CMD"}
    commands = [text for name, text in steps if name == "RUN"]
    assert commands and set(commands) <= README
    assert commands == ["make example"]
    (base,) = re.findall(r"^FROM python:([\d.]+)-\w+ AS machine$", DOCKERFILE, re.MULTILINE)
    assert f"Python {base} or newer" in (ROOT / "README.md").read_text()
    (command,) = [json.loads(text) for name, text in steps if name == "CMD"]
    assert command == ["brainsmith", "--help"]


def test_what_the_image_sets_up_is_what_the_readme_activates():
    assert "source .venv/bin/activate" in README
    assert 'ENV PATH="/brainsmith/.venv/bin:$PATH"' in DOCKERFILE
    ignored = (ROOT / ".dockerignore").read_text().split()
    assert {".venv", ".kept", "out", "dist"} <= set(
        ignored
    )  # an environment of the host would not be made anew


def test_the_development_container_runs_a_command_of_the_readme_in_the_same_machine():
    stated = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text())
    commands = [value for key, value in stated.items() if key.endswith("Command")]
    assert commands and set(commands) <= README
    build = stated["build"]
    assert (ROOT / ".devcontainer" / build["dockerfile"]).resolve() == ROOT / "Dockerfile"
    assert (ROOT / ".devcontainer" / build["context"]).resolve() == ROOT
    assert f" AS {build['target']}\n" in DOCKERFILE
    assert stated["remoteEnv"]["PATH"].startswith("${containerWorkspaceFolder}/.venv/bin:")
