"""docs/stability.md: it lists what is public, all of that is described on a page, and pages use nothing else."""

import inspect
import re
from importlib import import_module
from importlib.util import find_spec

import pytest

from brainsmith import errors
from tests.test_docs import ROOT

WHOLE, SINGLE = (
    {
        module: (re.findall(r"`([^`]+)`", names), re.findall(r"\]\(([^)]+)\)", pages))
        for module, names, pages in re.findall(
            r"^\| `(brainsmith[\w.]*)` \| (.+) \| (.+) \|$", part, re.MULTILINE
        )
    }
    for part in (ROOT / "docs" / "stability.md")
    .read_text()
    .partition("## Modules")[2]
    .split("`brainsmith.errors`")
)
LISTED = [(module, *row) for module, row in (WHOLE | SINGLE).items()]
PLUGINS = ("transforms.", "kernels.", "backends.", "steps.", "ops.", "targets.")
"""The folders whose modules are not public, but the plugins in them."""


@pytest.mark.parametrize("module", WHOLE)
def test_all_names_of_an_entry_module_are_listed(module):
    """Where names are imported when they are asked for, `dir` has them; `__all__` has others for QONNX or for `*`."""
    entry = import_module(module)
    names = entry.__all__ if module == "brainsmith" else dir(entry)
    assert WHOLE[module][0] == sorted(names)


@pytest.mark.parametrize(("module", "names", "pages"), LISTED, ids=[row[0] for row in LISTED])
def test_a_public_name_is_there_and_described_on_its_page(module, names, pages):
    entry = import_module(module)
    texts = "\n".join((ROOT / "docs" / page).read_text() for page in pages)
    code = "\n".join(re.findall(r"```.*?```|`[^`]+`", texts, re.DOTALL))
    assert [name for name in names if not hasattr(entry, name) and not find_spec(f"{module}.{name}")] == []
    assert [name for name in names if not re.search(rf"\b{name}\b", code)] == []


def test_the_errors_are_what_their_module_has():
    own = {
        name
        for name, value in vars(errors).items()
        if not name.startswith("_")
        and getattr(value, "__module__", "") == errors.__name__
        and not (inspect.isclass(value) and issubclass(value, Exception))
    }
    assert own == {"Problem", "exit_code"}


def test_the_pages_import_nothing_that_is_not_public():
    public = {module: set(names) for module, names, _ in LISTED}
    public["brainsmith.errors"] = set(vars(errors))
    public["brainsmith"] |= {"ops", "targets"}
    used = {
        (page.name, module, name.partition(" as ")[0].strip())
        for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
        for block in re.findall(r"^```py(?:thon)?\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)
        for module, names in re.findall(r"^ *from (brainsmith[.\w]*) import ([^\n(#]+)", block, re.MULTILINE)
        for name in names.split(",")
        if not module.startswith(tuple(f"brainsmith.{folder}" for folder in PLUGINS))
    }
    assert len(used) > 50
    assert sorted(row for row in used if row[2] not in public.get(row[1], ())) == []
