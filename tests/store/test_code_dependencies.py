"""Which modules some code is made of: what Python's own import loads, read without importing."""

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import brainsmith
from brainsmith.store.code_dependencies import imports_in, sources_of
from brainsmith.store.fingerprint import digest

PACKAGE = Path(brainsmith.__file__).parent


@pytest.fixture
def package(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    root = tmp_path / "closed_package"
    (root / "inner").mkdir(parents=True)
    files = {
        "__init__.py": "",
        "top.py": "from .inner import deep\nimport os, json\n",
        "inner/__init__.py": "",
        "inner/deep.py": "def late():\n    from closed_package import constant\n    return constant.VALUE\n",
        "constant.py": "VALUE = 1\n",
        "unused.py": "",
    }
    for name, text in files.items():
        (root / name).write_text(text)
    yield root
    for name in [name for name in sys.modules if name.startswith("closed_package")]:
        del sys.modules[name]


def test_what_a_module_imports_counts_and_what_that_imports(package):
    found = sources_of(["closed_package.top"])
    assert sorted(found.digests) == [
        "closed_package",
        "closed_package.constant",
        "closed_package.inner",
        "closed_package.inner.deep",
        "closed_package.top",
    ]
    assert found.digests["closed_package.constant"] == digest(b"VALUE = 1\n")
    assert found.unknown == ()


def test_a_package_with_all_below_it(package):
    assert "closed_package.unused" in sources_of(["closed_package.*"]).digests
    assert "closed_package.inner.deep" in sources_of(["closed_package.inner.*"]).digests
    assert "closed_package.unused" not in sources_of(["closed_package.inner.*"]).digests


def test_an_edit_of_any_of_them_is_another_fingerprint(package):
    before = sources_of(["closed_package.top"]).fingerprint()
    assert sources_of(["closed_package.top"]).fingerprint() == before
    (package / "unused.py").write_text("VALUE = 2\n")
    assert sources_of(["closed_package.top"]).fingerprint() == before
    (package / "constant.py").write_text("VALUE = 2\n")
    assert sources_of(["closed_package.top"]).fingerprint() != before


def test_an_imported_module_counts_with_the_source_that_it_was_made_of(package):
    from brainsmith.store.imported_sources import note_imports

    note_imports()
    before = sources_of(["closed_package.top"]).fingerprint()
    importlib.import_module("closed_package.constant")
    (package / "constant.py").write_text("VALUE = 2\n")
    assert sources_of(["closed_package.top"]).fingerprint() == before


def test_what_was_imported_unnoted_and_has_changed_gives_no_fingerprint(package, monkeypatch):
    monkeypatch.setattr(sys, "meta_path", [f for f in sys.meta_path if "Noting" not in type(f).__name__])
    importlib.import_module("closed_package.constant")  # its file is younger than this process
    found = sources_of(["closed_package.top"])
    assert (found.unknown, found.fingerprint()) == (("closed_package", "closed_package.constant"), None)


def of_ast(text, module, is_package):
    """Return what the imports of a source name, as Python's parser reads them; without what is for types only."""
    names = set()
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            node.body = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            parts = (
                module.split(".")[: len(module.split(".")) + is_package - node.level] if node.level else []
            )
            base = ".".join([*parts, *([node.module] if node.module else [])])
            names |= {base} | {f"{base}.{alias.name}" for alias in node.names if alias.name != "*"}
    return names


@pytest.mark.parametrize("name", [pytest.param("brainsmith", marks=pytest.mark.slow), "qonnx"])
@pytest.mark.slow
def test_the_imports_are_those_that_pythons_parser_finds(name):
    root = Path(importlib.util.find_spec(name).submodule_search_locations[0])
    for path in root.rglob("*.py"):
        module = ".".join([name, *path.relative_to(root).with_suffix("").parts]).removesuffix(".__init__")
        is_package = path.name == "__init__.py"
        missing = of_ast(path.read_text(), module, is_package) - set(
            imports_in(path.read_bytes(), module, is_package)
        )
        assert not missing, path


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("import a.b as c, d\n", {"a", "a.b", "d"}),
        ("if x: import a; from b import c\n", {"a", "b", "b.c"}),
        ("from a import (b, # a comment (with a bracket)\n    c as d,\n)\n", {"a", "a.b", "a.c"}),
        ("from a import \\\n    b\n", {"a", "a.b"}),
        ("from a import *\n", {"a"}),
        ("from . import b\nfrom .c import d\nfrom .. import e\n", {"r.p.b", "r.p.c", "r.p.c.d", "r.e"}),
        ("if TYPE_CHECKING:\n    import a\n\n    import b\nimport c\n", {"c"}),
        ("def f():\n    import a\n", {"a"}),
        ("import a\r\nimport b\r\n", {"a", "b"}),
    ],
)
def test_forms_of_imports(text, names):
    assert set(imports_in(text.encode(), "r.p.m", False)) == names | {"r", "r.p", "r.p.m"}


@pytest.mark.slow
def test_all_that_python_loads_for_the_lowerings_is_in_their_closure():
    roots = ["brainsmith.execution.*"]
    code = (
        "import sys; from brainsmith.execution.operators.readers import readers; readers()\n"
        "print(*[name for name in sys.modules if name.startswith('brainsmith')])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(run.stdout.split()) <= set(sources_of(roots).digests)
