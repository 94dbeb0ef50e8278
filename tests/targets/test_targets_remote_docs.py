"""docs/targets_remote.md is true: its block runs, and it names every argument, setting and request."""

import inspect
import shlex
import shutil

from brainsmith.cli.command_line import parse
from brainsmith.cli.main import find_verb
from brainsmith.runtime.serving import protocol
from brainsmith.targets.remote import RemoteTarget
from tests.plugin.installed import run_python
from tests.test_docs import ROOT, blocks

PAGE = "docs/targets_remote.md"


def test_the_block_runs(tmp_path):
    shutil.copytree(ROOT / "examples" / "digits", tmp_path / "examples" / "digits")
    (program,) = blocks(PAGE, "python")
    before = (
        "import json\nprint_ = print\nshown = []\nprint = lambda *values: shown.extend(map(str, values))\n"
    )
    shown = run_python(f"{before}{program}\nprint_(json.dumps(shown))\n", cwd=tmp_path)
    assert shown[:2] == ["True", "['fc1', 'logits']"]
    assert len(shown[2].strip("[]").split()) == 4


def test_every_argument_and_request_is_told():
    page = (ROOT / PAGE).read_text()
    for name in list(inspect.signature(RemoteTarget).parameters):
        assert f"\n| `{name}` |" in page, name
    for path in (protocol.TARGET, protocol.MODELS, protocol.PREPARE, protocol.EXECUTE):
        assert f" {path}" in page, path
    assert f"`{protocol.PROTOCOL_HEADER}: {protocol.PROTOCOL}`" in page


def test_every_command_is_one():
    lines = [line for block in blocks(PAGE, "sh") for line in block.splitlines()]
    commands = [shlex.split(line)[1:] for line in lines if line.startswith("brainsmith ")]
    assert len(commands) == 3
    for words in commands:
        verb = find_verb(words)
        parse(verb, words[len(verb.words) :])
