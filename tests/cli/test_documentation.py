"""The reference of the command line: every verb and option is in it, and every block of it is run."""

import re
import shlex
import shutil

import pytest

from brainsmith.cli.verbs import VERBS
from tests.cli.command import ROOT, TRANSFORM, on_terminal

TEXT = (ROOT / "docs" / "cli.md").read_text()
BLOCKS = re.findall(r"```console\n(.*?)```", TEXT, re.DOTALL)

DRAFT = """\
from qonnx.transformation.base import Transformation

from brainsmith.plugin.core import transform


@transform(stage="tidy", descripton="Do nothing yet")
class MyPass(Transformation):
    pass
"""


@pytest.fixture
def workshop(project):
    """What the reference's commands find: a project with a plugin, two drafts, and the shipped examples."""
    (project / "drafts").mkdir()
    (project / "drafts" / "my_pass.py").write_text(DRAFT)
    (project / "drafts" / "wrong.yaml").write_text(
        "hw_compiler:\n  kernels: [LayerNrom]\n  steps: [cleanup, stremline]\n"
    )
    assert (project / "plugins" / "keep_all.py").read_text() == TRANSFORM
    shutil.copytree(ROOT / "blueprints", project / "blueprints")
    shutil.copytree(ROOT / "examples", project / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    return project


def commands(block):
    """Return the commands of a block, each with what it shows."""
    found = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return [(command, "\n".join(lines)) for command, lines in found]


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.partition("\n")[0][2:42])
@pytest.mark.slow
def test_every_block_shows_what_its_commands_print(block, workshop):
    for command, expected in commands(block):
        words = shlex.split(command)
        assert words[0] == "brainsmith"
        shown = on_terminal(*words[1:], width=124, NO_COLOR="1")[1]
        pattern = r".*?".join(re.escape(part) for part in expected.rstrip("\n").split("..."))
        assert re.fullmatch(pattern + r"\s*", shown, re.DOTALL), f"$ {command}\n{shown}"


def test_every_verb_has_its_chapter_with_usage_and_options():
    chapters = dict(re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", TEXT, re.DOTALL | re.MULTILINE))
    assert list(chapters) == [" ".join(verb.words) for verb in VERBS]
    for verb in VERBS:
        chapter = chapters[" ".join(verb.words)]
        usage = re.search(r"\n((?:    .*\n)+)", chapter).group(1)
        assert " ".join(usage.split()) == verb.usage
        assert re.findall(r"^\| `(--[^`]+)` \|", chapter, re.MULTILINE) == [
            argument.label for argument in verb.arguments if argument.is_option
        ]
