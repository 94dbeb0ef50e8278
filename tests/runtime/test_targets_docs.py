"""The page of targets is true: its code runs, and no public name is left out."""

import re
import shutil

from brainsmith import targets
from tests.plugin.installed import run_python
from tests.test_docs import ROOT, blocks

PAGE = "docs/targets.md"


def test_the_code_of_the_page_of_targets_runs(tmp_path):
    shutil.copytree(ROOT / "examples" / "digits", tmp_path / "examples" / "digits")
    program = "\n".join(blocks(PAGE, "python")).replace("print(", "show(")
    before = "import json\nshown = []\nshow = lambda *values: shown.extend(map(str, values))\n"
    shown = run_python(f"{before}{program}\nprint(json.dumps(shown))\n", cwd=tmp_path)
    assert shown[0] == "(2, 10)"
    assert "['fc1', 'logits']" in shown
    assert "[[0. 0. 1. 1.]]" in shown
    assert re.fullmatch(r"\[\d \d\]", shown[-1])


def test_every_public_name_of_targets_is_on_the_page():
    page = (ROOT / PAGE).read_text()
    assert [name for name in targets.__all__ if name not in page] == []


def test_every_target_that_ships_is_on_the_page_with_its_priority_and_devices():
    page = (ROOT / PAGE).read_text()
    for info in targets.get_registry().records():
        devices = ", ".join(f"`{name}`" for name in info.device_types)
        assert f"| `{info.name}` | {info.priority} | {devices} |" in page, info.name
