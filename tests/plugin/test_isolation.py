"""One bad file never costs another plugin: it is reported, and all others are found."""

import json
import os
import sys

import pytest

from brainsmith.plugin.isolation import on_enough_stack
from brainsmith.plugin.source_files import LARGEST
from tests.plugin.installed import step_file

SUM = "+".join(["1"] * 2000)
DECORATED = "from brainsmith.plugin.core import step\n\n\n@step({})\ndef bad(model, cfg): pass\n"
NESTED = "an expression or statement is nested too deeply, so the file's plugins are not found"
DEEP = 100_000


def sparse(path, size):
    with path.open("wb") as file:
        file.write(b"from brainsmith.plugin.core import step\n@step\ndef bad(model, cfg): pass\n")
        file.truncate(size)


def text(content):
    return lambda path: path.write_text(content)


BAD = {
    "an argument of 2000 additions": (
        text(DECORATED.format(f"version={SUM}")),
        ":4: version= of @step must be a literal, because discovery does not run plugin code; found "
        "an expression that is nested too deeply to be shown",
    ),
    "an argument of more additions than Python compiles": (
        text(DECORATED.format(f"version={SUM}+{SUM}+{SUM}")),
        f": {NESTED}",
    ),
    "an argument of more signs than Python compiles": (
        text(DECORATED.format(f"priority={'-' * DEEP}1")),
        f": {NESTED}",
    ),
    "brackets": (
        text(DECORATED.format(f"version={'[' * DEEP}")),
        ":4:214: the file is not Python, so its plugins are not found: too many nested parentheses",
    ),
    "a chain of conditions": (
        text(
            DECORATED.format("")
            + "if 0: pass\n"
            + "elif 1: pass\n" * DEEP
            + "@step\n\ndef f(): 1\n\f@step\ndef g(): 1\n"
        ),
        f": {NESTED}",
    ),
    "a table of groups of additions": (text(f"GROUPS = {SUM}\n"), ""),
    "a pipe": (os.mkfifo, ": the file cannot be read: it is a folder, a pipe or a device"),
    "a folder": (os.mkdir, ": the file cannot be read: it is a folder, a pipe or a device"),
    "a link to itself": (
        lambda path: path.symlink_to(path),
        ": the file cannot be read: Too many levels of symbolic links",
    ),
    "a link to nothing": (
        lambda path: path.symlink_to("nothing.py"),
        ": the file cannot be read: No such file or directory",
    ),
    "a file of 100 MB": (
        lambda path: sparse(path, 100_000_000),
        ": the file cannot be read: it has 95.4 MiB; a source file may have up to 16 MiB",
    ),
    "a null byte": (
        text(DECORATED.format("") + "\0@step\n"),
        None,
    ),
    "another encoding": (
        lambda path: path.write_bytes(
            b"# coding: utf-99\n" + DECORATED.format("version='\xff'").encode("latin-1")
        ),
        None,
    ),
}


@pytest.mark.parametrize(("make", "problem"), BAD.values(), ids=BAD)
def test_a_bad_file_among_plugins_is_reported_and_the_others_are_found(project, manager, make, problem):
    project.write("plugins/a.py", step_file("before"))
    project.write("plugins/z.py", step_file("behind"))
    bad = project / "plugins" / "bad.py"
    make(bad)
    found = {info.name for info in manager.discover_plugins(frameworks=["project"])}
    assert {"before", "behind"} <= found
    problems = list(map(str, manager.problems))
    if problem:
        assert problems == [f"{bad}{problem}"]
    elif problem is None:
        assert "bad" in found or problems


@pytest.mark.parametrize(("make", "problem"), BAD.values(), ids=BAD)
def test_a_bad_file_of_a_distribution_costs_no_other_distribution(site, manager, make, problem):
    """The bad file's own distribution keeps its other plugins, too."""
    site.install("acme", "1.0", {"all": "acme"}, acme____init__="", acme__good=step_file("acme_good"))
    site.install("other", "1.0", {"all": "other_one"}, other_one=step_file("other_good"))
    make(site / "acme" / "bad.py")
    found = {info.name for info in manager.discover_plugins(frameworks=["acme", "other"])}
    assert {"acme_good", "other_good"} <= found
    if problem:
        assert [str(found) for found in manager.problems] == [f"{site / 'acme' / 'bad.py'}{problem}"]


CLASS = "from qonnx.transformation.base import Transformation\n\n\nclass {}({}):\n    def apply(self, model): pass\n"
BAD_IN_FRAMEWORK = {
    "a base of additions": text(CLASS.format("Bad", f"make({SUM}+{SUM})")),
    "a base that is no name, in a file of additions": text(
        CLASS.format("Bad", "Unknown") + f"x = {SUM}+{SUM}\n"
    ),
    "a step of additions": text(f"def step_bad(model, cfg, more={SUM}+{SUM}): pass\n"),
    "a table of operators of additions": text(f"custom_op = {{'x': {SUM}+{SUM}}}\n"),
    **{name: make for name, (make, _) in BAD.items()},
}


@pytest.mark.parametrize("make", BAD_IN_FRAMEWORK.values(), ids=BAD_IN_FRAMEWORK)
def test_a_bad_file_of_a_framework_costs_no_other_class(unimported_finn, manager, make):
    site = unimported_finn
    site.write("finn/__init__.py", "")
    site.write("finn/a.py", CLASS.format("First", "Transformation"))
    site.write("finn/z.py", "from finn.a import First\nclass Last(First): pass\n")
    make(site / "finn" / "bad.py")
    found = {info.name for info in manager.discover_plugins(frameworks=["finn"])}
    assert {"First", "Last"} <= found
    assert {summary["name"]: summary["status"] for summary in manager.adapters} == {"finn": "available"}


def test_a_file_of_a_framework_that_cannot_be_parsed_is_reported(unimported_finn, manager):
    site = unimported_finn
    site.write("finn/__init__.py", "")
    site.write("finn/bad.py", CLASS.format("Bad", f"make({SUM}+{SUM})"))
    manager.discover_plugins(frameworks=["finn"])
    assert list(map(str, manager.problems)) == [f"{site / 'finn' / 'bad.py'}: {NESTED}"]


@pytest.mark.parametrize(
    "make",
    [
        lambda folder: (folder / "self").symlink_to(folder / "self"),
        lambda folder: (
            (folder / "one").symlink_to(folder / "two"),
            (folder / "two").symlink_to(folder / "one"),
        ),
        lambda folder: (folder / "back").symlink_to(folder),
        lambda folder: (folder / "up").symlink_to(folder.parent),
        lambda folder: (folder / "nowhere").symlink_to(folder / "absent"),
    ],
    ids=["to itself", "in a cycle", "to the folder", "to the one above", "to nothing"],
)
def test_a_link_that_leads_nowhere_costs_no_plugin(project, manager, make):
    project.write("plugins/a.py", step_file("one"))
    project.write("plugins/sub/b.py", step_file("two"))
    make(project / "plugins")
    assert {info.name for info in manager.discover_plugins(frameworks=["project"])} == {"one", "two"}
    loops = sorted(
        str(path)
        for path in (project / "plugins").iterdir()
        if path.is_symlink() and path.name in ("self", "one", "two")
    )
    assert sorted(map(str, manager.problems)) == [
        f"{path}: the file cannot be read: Too many levels of symbolic links" for path in loops
    ]


@pytest.mark.slow
def test_health_is_degraded_by_a_bad_file(project, manager):
    (project / "plugins" / "self").symlink_to(project / "plugins" / "self")
    report = manager.health_check()
    assert report["status"] == "degraded"
    assert (
        f"{project / 'plugins' / 'self'}: the file cannot be read: Too many levels of symbolic links"
        in report["problems"]
    )


BAD_MANIFESTS = {
    "nested": text("[" * DEEP),
    "nested values": text('{"name": ' + '{"a":' * DEEP + "1" + "}" * DEEP + "}"),
    "a pipe": os.mkfifo,
    "a folder": os.mkdir,
    "a link to itself": lambda path: path.symlink_to(path),
    "large": lambda path: sparse(path, LARGEST + 1),
    "a name of half a character": text(
        json.dumps({"name": "\ud800", "version": "1.0.0", "library": "\0\ud800"})
    ),
}


@pytest.mark.parametrize("make", BAD_MANIFESTS.values(), ids=BAD_MANIFESTS)
def test_a_bad_plugin_json_is_reported_and_all_others_are_found(project, manager, make):
    project.write("plugins/a.py", step_file("one"))
    (project / "plugins" / "bad").mkdir()
    project.write(
        "plugins/good/plugin.json",
        json.dumps(
            {"name": "good", "version": "1.0.0", "min_brainsmith_version": "0.1.0", "module": "good.py"}
        ),
    )
    project.write("plugins/good/good.py", "")
    bad = project / "plugins" / "bad" / "plugin.json"
    make(bad)
    assert {info.name for info in manager.discover_plugins(frameworks=["project"])} == {"one", "good"}
    assert {str(problem).partition(": ")[0].partition(".json")[0] for problem in manager.problems} == {
        str(bad)[:-5]
    }


TABLES = {
    "additions": f"def table(): return {{'steps': {SUM}}}\n",
    "keys that are lists": "def table(): return {[]: 1}\n",
    "nested": "def table():\n    value = []\n    for _ in range(100000):\n        value = [value]\n    return value\n",
    "odd entries": "def table(): return {'steps': [1, None, {'name': [], 'module': {}, 'func_name': 1}, {'name': 'x'}]}\n",
    "an error": "def table(): raise MemoryError\n",
}


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
@pytest.mark.slow
def test_a_bad_table_costs_no_other_distribution(site, manager, table):
    site.install("acme", "1.0", {"all": "acme_tables:table"}, acme_tables=table)
    site.install("other", "1.0", {"all": "other_one"}, other_one=step_file("other_good"))
    assert [info.name for info in manager.discover_plugins(frameworks=["acme", "other"])] == ["other_good"]
    assert manager.problems


@pytest.mark.parametrize(
    "make", [os.mkdir, os.mkfifo, lambda path: path.symlink_to(path)], ids=["folder", "pipe", "link"]
)
def test_bad_metadata_of_a_distribution_costs_no_other_one(site, manager, make):
    info = site.install("acme", "1.0", {"all": "acme"})
    (info / "entry_points.txt").unlink()
    make(info / "entry_points.txt")
    site.install("other", "1.0", {"all": "other_one"}, other_one=step_file("other_good"))
    assert [info.name for info in manager.discover_plugins(frameworks=["other"])] == ["other_good"]
    [problem] = manager.problems
    assert str(problem).startswith(f"{info / 'entry_points.txt'}: the file cannot be read: ")


@pytest.mark.finds_anew
def test_what_a_file_gives_does_not_depend_on_the_depth_of_the_caller(project, manager):
    nested = "[" * 60 + "1" + "]" * 60
    project.write("plugins/a.py", step_file("one") + f"GROUPS = {{'x': ['one']}}\nDEEP = {nested}\n")
    project.write(
        "plugins/b.py",
        f"from brainsmith.plugin.core import step\n@step(version=str({nested}))\ndef b(m, c): pass\n",
    )

    def read():
        found = manager.discover_plugins(frameworks=["project"])
        return [info.to_plain() for info in found], list(map(str, manager.problems)), manager.registry.groups

    expected = read()

    def at(depth):
        return at(depth - 1) if depth else read()

    for room in (60, 90, 130, 180):
        manager.clear_cache()
        frame, depth = sys._getframe(), 0
        while frame is not None:
            frame, depth = frame.f_back, depth + 1
        assert at(sys.getrecursionlimit() - depth - room) == expected


def test_a_whole_stack_is_tried_before_a_file_is_given_up():
    def deep(depth):
        return deep(depth - 1) + 1 if depth else 0

    def asked_at(depth):
        return asked_at(depth - 1) if depth else on_enough_stack(deep, 600)

    assert asked_at(600) == 600
    with pytest.raises(RecursionError):
        on_enough_stack(deep, 100_000)
