"""Kinds: each that code keeps is known, with its quota, and on the page."""

import ast
import re
from pathlib import Path

from brainsmith.store.kinds import KINDS
from brainsmith.store.quota import MEBIBYTE, QUOTAS

ROOT = Path(__file__).parents[2]


def test_the_page_states_every_kind_with_its_folder_and_quota():
    rows = re.findall(
        r"^\| `([\w-]+)` \| `(.+?)` \| (.*?) \| (\d+) \|$", (ROOT / "docs" / "cache.md").read_text(), re.M
    )
    assert rows == [(kind.name, kind.folder, kind.holds, str(kind.limit // MEBIBYTE)) for kind in KINDS]
    assert {kind.folder.partition("/")[0] for kind in KINDS} >= QUOTAS.keys()
    assert len({kind.name for kind in KINDS}) == len({kind.folder for kind in KINDS}) == len(KINDS)


def kinds_in(text):
    """Yield the folder of each store that a module makes."""
    tree = ast.parse(text)
    constants = {
        node.targets[0].id: node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        and isinstance(node.targets[0], ast.Name)
    }  # fmt: skip
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id in ("Kept", "Computed"):
                kind = node.args[1]
                yield (
                    kind.value
                    if isinstance(kind, ast.Constant)
                    else constants.get(ast.unparse(kind), "as given")
                )
            elif node.func.id == "kept":
                yield node.args[0].value
            elif node.func.id == "KeptFolders":
                yield re.search(r"/ '([\w/]+)'", ast.unparse(node.args[0])).group(1)


def test_every_store_in_the_code_is_of_a_known_kind():
    files = [path for path in (ROOT / "brainsmith").rglob("*.py") if path.parent.name != "store"]
    texts = [
        text
        for text in map(Path.read_text, files)
        if re.search(r"\b(Kept|Computed|KeptFolders|kept)\(", text)
    ]
    used = {kind for text in texts for kind in kinds_in(text)}
    assert used - {"as given"} | {"sources"} == {kind.folder.rpartition("/")[2] for kind in KINDS}
