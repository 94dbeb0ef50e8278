"""The rules of the design that no type checker sees."""

import ast
import re
import subprocess
import sys
import tomllib
from collections import defaultdict
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.plugin.installed import run_python, step_file

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "brainsmith"
FILES = sorted(path for path in PACKAGE.rglob("*.py"))
NAMES = [str(path.relative_to(ROOT)) for path in FILES]
BENCH = "brainsmith/rtl/package/bench/"
"""Files that are copied into packages and run there, without BrainSmith."""
PLUGIN_FOLDERS = ("transforms", "kernels", "backends", "steps", "ops", "targets")


class Facts(NamedTuple):
    """What the rules look at in a file: each (text, line)."""

    docstring: str | None
    imports: list[tuple[str, int]]
    """Anywhere in the file, relative ones resolved."""
    imports_at_top: list[tuple[str, int]]
    """As they are written, at module level."""
    imports_for_types: set[int]
    """The lines of those that only a type checker runs."""
    calls: list[tuple[str, int, str]]
    """And the first argument, of those that import by name."""
    environment: list[tuple[str, int]]
    raised: list[tuple[str, int]]
    classes: list[str]
    """Those at module level."""


VARIABLES = ("environ", "environb", "getenv", "putenv", "expandvars")
IMPORTERS = ("__import__", "import_module", "exec_module")


@cache
def facts_of(path):
    """Read a file once for all rules."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    facts = Facts(ast.get_docstring(tree), [], [], set(), [], [], [], [])
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            facts.imports.extend((name, node.lineno) for name in imported(node, path))
        elif isinstance(node, ast.Call):
            name = dotted(node.func)
            first = ast.unparse(node.args[0]) if name.endswith(IMPORTERS) and node.args else ""
            facts.calls.append((name, node.lineno, first))
        elif isinstance(node, ast.Attribute) and node.attr in VARIABLES:
            facts.environment.append((dotted(node), node.lineno))
        elif isinstance(node, ast.Raise) and node.exc is not None:
            raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
            facts.raised.append((dotted(raised), node.lineno))
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            facts.classes.append(node.name)
        elif isinstance(node, ast.Import):
            facts.imports_at_top.extend((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            facts.imports_at_top.append((node.module or "", node.lineno))
        elif isinstance(node, ast.If) and dotted(node.test) == "TYPE_CHECKING":
            facts.imports_for_types.update(inner.lineno for inner in node.body)
    return facts


def imported(node, path):
    """Yield what an import names, in full."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
        return
    package = path.relative_to(ROOT).with_suffix("").parts[: -1 if path.name != "__init__.py" else None]
    base = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
    module = ".".join(filter(None, [base, node.module or ""]))
    yield from (f"{module}.{alias.name}" for alias in node.names)


def dotted(node):
    """Return an expression as it is written; names with dots are most of them, and cost little."""
    parts, inner = [], node
    while isinstance(inner, ast.Attribute):
        parts.append(inner.attr)
        inner = inner.value
    return ".".join([inner.id, *reversed(parts)]) if isinstance(inner, ast.Name) else ast.unparse(node)


def imports_of(path):
    return facts_of(path).imports


def calls_of(path):
    return [(name, line) for name, line, _ in facts_of(path).calls]


def offenders(find, allowed=()):
    found = []
    for path, name in zip(FILES, NAMES, strict=True):
        if not name.startswith(tuple(allowed)) or not allowed:
            found.extend(f"{name}:{line}: {what}" for what, line in find(path))
    return found


def test_an_import_points_downwards_only():
    command = Path(sys.executable).with_name("lint-imports")
    if not command.exists():
        pytest.skip("needs import-linter")
    done = subprocess.run([command, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


HUB = {
    name.removesuffix(".py").removesuffix("/__init__").replace("/", "."): path
    for path, name in zip(FILES, NAMES, strict=True)
    if name.startswith("brainsmith/plugin/")
}
"""The files of the hub, by their modules."""


def test_no_files_of_the_hub_import_each_other_not_even_in_functions():
    below = {module: set() for module in HUB}
    for module, path in HUB.items():
        facts = facts_of(path)
        for name, line in facts.imports:
            found = name if name in HUB else name.rpartition(".")[0]
            if found in HUB and found != module and line not in facts.imports_for_types:
                below[module].add(found)
    TopologicalSorter(below).prepare()  # raises a CycleError that names the files


def test_each_import_in_a_function_of_the_hub_says_why_it_stands_there():
    """On its line or above it; of imports that follow each other, at the first."""

    def without_reason(path):
        lines, facts, explained = ["", *path.read_text().splitlines()], facts_of(path), set()
        at_top = {line for _, line in facts.imports_at_top}
        for line in sorted({line for _, line in facts.imports} - at_top - facts.imports_for_types):
            before = line - 1 if lines[line - 1] else line - 2
            if "#" in lines[line] or lines[line - 1].lstrip().startswith("#") or before in explained:
                explained.add(line)
            else:
                yield line

    assert [f"{module}:{line}" for module, path in HUB.items() for line in without_reason(path)] == []


def test_every_part_of_the_package_has_a_layer():
    with (ROOT / "pyproject.toml").open("rb") as file:
        (contract,) = tomllib.load(file)["tool"]["importlinter"]["contracts"]
    layers = {name.strip() for layer in contract["layers"] for name in re.split("[:|]", layer)}
    parts = {
        f"brainsmith.{path.stem}"
        for path in PACKAGE.iterdir()
        if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    assert parts - layers == {"brainsmith.__init__"}


def test_every_module_says_what_it_is():
    assert [
        name
        for path, name in zip(FILES, NAMES, strict=True)
        if not facts_of(path).docstring and path.stat().st_size
    ] == []


def test_no_module_is_a_catch_all():
    banned = {"utils", "util", "helpers", "helper", "common", "misc", "tools_misc", "stuff"}
    assert [name for path, name in zip(FILES, NAMES, strict=True) if path.stem in banned] == []


def classes():
    """The files that define each class, by its name."""
    found = defaultdict(list)
    for path, name in zip(FILES, NAMES, strict=True):
        for one in facts_of(path).classes:
            found[one].append(name)
    return found


def test_each_word_of_the_glossary_is_one_class():
    words = (ROOT / "docs" / "architecture.md").read_text().partition("## Words")[2].partition("\n## ")[0]
    rows = [row.split("|")[1:-1] for row in words.splitlines() if row.startswith("| ")][2:]
    terms = [word for row in rows for word in row[0].strip().split(", ")]
    assert sorted(terms) == sorted(set(terms))
    found = classes()
    named = [name for row in rows for name in re.findall(r"`(\w+)`", row[2])]
    assert {name: found[name] for name in named if len(found[name]) != 1} == {}


def test_no_two_classes_have_one_name():
    """Private ones too: who searches for a name finds one thing."""
    assert {name: files for name, files in classes().items() if len(files) > 1} == {}


FAMILIES = ("autodiff/primitives/", "execution/operators/", "execution/program/functions/")
"""Here a file is named after its family of operators: how it is read, and what computes it."""


def test_no_two_files_have_one_name():
    found = defaultdict(list)
    for name in NAMES:
        folder, _, file = name.removeprefix("brainsmith/").rpartition("/")
        if file != "__init__.py" and not f"{folder}/".startswith(FAMILIES):
            found[file].append(name)
    assert {file: names for file, names in found.items() if len(names) > 1} == {}


def test_no_file_is_longer_than_the_end():
    assert [
        name for path, name in zip(FILES, NAMES, strict=True) if len(path.read_text().splitlines()) > 500
    ] == []


ENVIRONMENT = [
    "brainsmith/settings.py",
    "brainsmith/build/guard.py",
    "brainsmith/store/audit.py",
    "brainsmith/store/reads.py",
]


def test_the_environment_is_read_in_one_module():
    """`build/guard.py` undoes what a step of FINN's may have changed; `store` notes what others read."""

    assert offenders(lambda path: facts_of(path).environment, [*ENVIRONMENT, BENCH]) == []


def test_processes_are_started_in_one_module():
    def find(path):
        yield from (
            (module, line)
            for module, line in imports_of(path)
            if module.partition(".")[0] in ("subprocess", "multiprocessing", "pty")
        )
        started = ("os.system", "os.popen", "os.exec", "os.spawn", "os.posix_spawn", "os.fork")
        yield from ((call, line) for call, line in calls_of(path) if call.startswith(started))

    assert offenders(find, ["brainsmith/plugin/processes.py", BENCH]) == []


def test_plugins_are_imported_in_one_module():
    """Others may import by name what is BrainSmith's own, or what FINN defers."""
    doors = [
        "brainsmith/plugin/plugin_loading.py",
        "brainsmith/plugin/adapters/completing_loader.py",
        "brainsmith/plugin/adapters/stand_ins.py",
        "brainsmith/plugin/environments/worker_script.py",  # in a process of another environment
        "brainsmith/store/imported_sources.py",  # Python's own loader, which notes the source
    ]
    own = ("'brainsmith.", "homes[", "verb.module")

    def find(path):
        for name, line, first in facts_of(path).calls:
            if name.rpartition(".")[2] in IMPORTERS and not first.startswith(own):
                yield f"{name}({first})", line

    assert offenders(find, doors) == []


def test_no_module_changes_the_current_folder():
    """Pitfall 24. `build/guard.py` undoes what a step of FINN's may have changed."""

    def find(path):
        yield from ((c, n) for c, n in calls_of(path) if c.rpartition(".")[2] in ("chdir", "fchdir"))

    assert offenders(find, ["brainsmith/build/guard.py"]) == []


def test_no_bare_exception_is_raised():
    def find(path):
        yield from (
            (name, line) for name, line in facts_of(path).raised if name in ("Exception", "BaseException")
        )

    assert offenders(find) == []


def test_plugins_reach_each_other_through_the_door(manager):
    """Never by file; but a backend may import its kernel, and QONNX looks operators up in their package."""
    plugins = {info.module for info in manager.discover_plugins(modes=["full"], frameworks=["brainsmith"])}

    def find(path):
        here = path.relative_to(PACKAGE).parts[0]
        for module, line in imports_of(path) if here in PLUGIN_FOLDERS and path.name != "__init__.py" else ():
            target = module if module in plugins else module.rpartition(".")[0]
            if target in plugins and not (
                here == "backends" and target.startswith(("brainsmith.kernels.", "brainsmith.backends."))
            ):
                yield module, line

    assert offenders(find) == []


def test_the_hub_imports_no_framework_at_module_level():
    def find(path):
        yield from ((n, line) for n, line in facts_of(path).imports_at_top if n.partition(".")[0] in HEAVY)

    hub = [
        line
        for line in offenders(find)
        if line.startswith(
            ("brainsmith/plugin", "brainsmith/settings", "brainsmith/store", "brainsmith/errors")
        )
        # It derives from stevedore's classes, and is imported where entry points are listed anew, and only there.
        and not line.startswith("brainsmith/plugin/adapters/group_listing.py")
    ]
    assert hub == []


HEAVY = ("qonnx", "finn", "onnx", "onnxruntime", "numpy", "yaml", "stevedore", "torch", "sklearn", "scipy")


@pytest.mark.parametrize(
    "use",
    [
        "from brainsmith import plugins",
        "from brainsmith.plugins import transforms; transforms.list_plugins()",
        "from brainsmith.plugins import kernels; kernels.backends('finn:MVAU')",
        "from brainsmith.plugin.core import get_registry; get_registry().resolve('transform', 'ExpandNorms')",
        "from brainsmith.plugin import get_plugin_manager; get_plugin_manager().get_performance_stats()",
        "from brainsmith.plugins import transforms; dir(transforms); transforms.get_info('finn:Streamline').origin",
    ],
)
def test_listing_and_resolving_imports_nothing_heavy(use, tmp_path):
    code = f"""
    import json, sys
    {use}
    print(json.dumps([name for name in {HEAVY!r} if name in sys.modules]))
    """
    assert run_python(code, cwd=tmp_path) == []


@pytest.mark.slow
def test_a_discovery_with_distributions_imports_stevedore_and_none_of_their_modules(site_folder):
    code = """
    import json, sys
    from brainsmith.plugins import steps
    names = steps.list_plugins().names()
    print(json.dumps(["acme" in names, "acme_steps" in sys.modules, "numpy" in sys.modules]))
    """
    assert run_python(code, path=[site_folder]) == [True, False, False]


@pytest.fixture
def site_folder(tmp_path):
    from tests.plugin.installed import Site

    Site(tmp_path).install("acme", "1.0", {"all": "acme_steps"}, acme_steps=step_file("acme"))
    return tmp_path


def test_every_own_plugin_lies_in_the_file_of_its_name(manager):
    def snake_case(name):
        return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()

    wrong = []
    for info in manager.discover_plugins(modes=["full"], frameworks=["brainsmith"]):
        stem = Path(info.file).stem
        if stem.replace("_", "") != snake_case(info.name).replace("_", ""):
            wrong.append((info.name, info.file))
    assert wrong == []


def test_every_error_is_one_of_the_family():
    from brainsmith import errors

    for name, value in vars(errors).items():
        if isinstance(value, type) and issubclass(value, Exception):
            assert issubclass(value, errors.BrainsmithError), name
            assert name == "BrainsmithError" or len(value.__mro__) > len(errors.BrainsmithError.__mro__) + 1


@pytest.fixture
def manager():
    from brainsmith.plugin.manager import get_plugin_manager

    return get_plugin_manager()


def test_whoever_catches_everything_and_raises_nothing_says_why():
    lines = [line for path in FILES for line in path.read_text("utf-8").splitlines()]
    blind = [line for line in lines if re.search(r"noqa:.*\b(BLE001|S110|S112)", line)]
    assert len(blind) > 10  # ruff finds all others
    assert [line for line in blind if not re.search(r"# noqa: [A-Z0-9, ]+  \(\w.+\)$", line)] == []
