"""A plugin file that cannot be used is reported, with its place and what to do, by every discovery."""

import os

import pytest

from brainsmith import DECORATORS
from brainsmith.errors import PluginLoadError, PluginNotFoundError
from brainsmith.plugin.core import get_registry
from brainsmith.plugin.definition import DECORATOR_TARGETS
from brainsmith.plugin.plugin_loading import import_file
from brainsmith.plugins import steps, transforms
from tests.plugin.installed import run_python, step_file, transform_file

BASE = "from qonnx.transformation.base import Transformation\n"
CLASS = '@{}(stage="tidy")\nclass Wanted(Transformation):\n    def apply(self, model):\n        return model, False\n'
STEP = "from brainsmith import step\n\n\n@step\n"

UNUSABLE = {
    "a colon that a method lacks": (
        f"{BASE}from brainsmith import transform\n{CLASS.format('transform')}".replace("model):\n", "model)\n"),
        ":5:27: the file is not Python, so its plugins are not found: expected ':'",
    ),
    "a colon that the class lacks": (
        f"{BASE}from brainsmith import transform\n{CLASS.format('transform')}".replace("mation):", "mation)"),
        ":4:29: the file is not Python, so its plugins are not found: expected ':'",
    ),
    "not UTF-8": (
        (STEP + 'def Wanted(model, cfg):\n    """Café."""\n').encode("latin-1"),
        ":6: the file is not Python, so its plugins are not found: byte 0xe9 is not UTF-8: save the file as UTF-8, or name"
        " its encoding in the first line (# coding: latin-1)",
    ),
    "UTF-16": (
        (STEP + "def Wanted(model, cfg): ...\n").encode("utf-16"),
        ": the file is not Python, so its plugins are not found: it is UTF-16: save it as UTF-8",
    ),
    "a return outside of a function": (
        STEP + "def Wanted(model, cfg): ...\nreturn Wanted\n",
        ":6:1: the file is not Python, so its plugins are not found: 'return' outside function",
    ),
    "nonlocal at the top level": (
        STEP + "def Wanted(model, cfg): ...\nnonlocal x\n",
        ":6:1: the file is not Python, so its plugins are not found: nonlocal declaration not allowed at module level",
    ),
    "two arguments of one name": (
        STEP + "def Wanted(model, model): ...\n",
        ":5:19: the file is not Python, so its plugins are not found: duplicate argument 'model' in function definition",
    ),
    "await outside of a coroutine": (
        STEP + "def Wanted(model, cfg):\n    await model\n",
        ":6:5: the file is not Python, so its plugins are not found: 'await' outside async function",
    ),
    "break outside of a loop": (
        STEP + "def Wanted(model, cfg):\n    break\n",
        ":6:5: the file is not Python, so its plugins are not found: 'break' outside loop",
    ),
    "a __future__ import that comes late": (
        STEP + "def Wanted(model, cfg): ...\nfrom __future__ import annotations\n",
        ":6:1: the file is not Python, so its plugins are not found: from __future__ imports must occur at the beginning "
        "of the file",
    ),
    "a global name that was used before": (
        STEP + "def Wanted(model, cfg):\n    x = 1\n    global x\n",
        ":7:5: the file is not Python, so its plugins are not found: name 'x' is assigned to before global declaration",
    ),
    "a decorator that is not imported": (
        BASE + CLASS.format("transform"),
        ":2: @transform is not imported, so the file's plugins cannot be loaded: from brainsmith import transform",
    ),
    "a decorator of a module that is not imported": (
        BASE + CLASS.format("brainsmith.transform"),
        ":2: @brainsmith.transform is not imported, so the file's plugins cannot be loaded: import brainsmith",
    ),
    "a decorator that import * of the door does not give": (
        f"{BASE}from brainsmith.plugins import *\n{CLASS.format('transform')}",
        ":3: @transform is not imported, so the file's plugins cannot be loaded: from brainsmith import transform",
    ),
    "a decorator that is imported from elsewhere": (
        f"{BASE}from brainsmith.core.plugins import transform\n{CLASS.format('transform')}",
        ":3: @transform must be imported by `from brainsmith import transform`; found brainsmith.core.plugins.transform",
    ),
    "a class in a function": (
        "from brainsmith import transform\ndef make():\n    @transform(stage='tidy')\n    class Wanted(Base): ...\n",
        ":3: @transform on 'Wanted' must stand at the top level of the file, not within a function, a class, an if or a "
        "try, because discovery does not run plugin code",
    ),
    "a class in a match": (
        "from brainsmith import transform\nmatch 0:\n  case 1:\n    @transform(stage='tidy')\n    class Wanted(A): ...\n",
        ":4: @transform on 'Wanted' must stand at the top level of the file, not within a function, a class, an if or a "
        "try, because discovery does not run plugin code",
    ),
    "a step without cfg": (
        STEP + "def Wanted(model): ...\n",
        ":4: @step needs a function (model, cfg) -> model; Wanted takes 1 argument",
    ),
    "a step that wants more by name": (
        STEP + "def Wanted(model, cfg, *, depth): ...\n",
        ":4: @step needs a function (model, cfg) -> model; Wanted takes 3 arguments",
    ),
    "a coroutine": (
        STEP + "async def Wanted(model, cfg): ...\n",
        ":4: @step needs a function (model, cfg) -> model, not the coroutine Wanted",
    ),
    "a class as a step": (
        STEP + "class Wanted: ...\n",
        ":4: @step needs a function (model, cfg) -> model, not the class Wanted",
    ),
    "a function as a transform": (
        "from brainsmith import transform\n@transform(stage='tidy')\ndef Wanted(model): ...\n",
        ":2: @transform needs a subclass of qonnx's Transformation, not the function Wanted",
    ),
    "a transform without a base": (
        "from brainsmith import transform\n@transform(stage='tidy')\nclass Wanted: ...\n",
        ":2: @transform needs a subclass of qonnx's Transformation, not the class Wanted()",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "problem"), UNUSABLE.values(), ids=UNUSABLE)
def test_a_file_that_cannot_be_used_is_a_problem_and_has_no_record(project, manager, text, problem):
    path = project.write("plugins/wanted.py", text)
    project.write("plugins/good.py", step_file("good"))
    assert [info.name for info in manager.discover_plugins(frameworks=["project"])] == ["good"]
    assert list(map(str, manager.problems)) == [f"{path}{problem}"]


@pytest.mark.parametrize(("text", "problem"), UNUSABLE.values(), ids=UNUSABLE)
def test_such_a_file_cannot_be_imported_either(site, text, problem):
    """What the scan reports Python or the decorator refuses; but for what would be entered when a function is called."""
    path = site.write("wanted.py", text)
    if "not within" in problem:
        import_file(str(path))
        assert find_problem("transform", "Wanted") == "no transform named 'Wanted'"
    else:
        with pytest.raises(PluginLoadError):
            import_file(str(path))


def find_problem(plugin_type, name):
    with pytest.raises(PluginNotFoundError) as caught:
        get_registry().resolve(plugin_type, name)
    return str(caught.value).splitlines()[0]


NO_PLUGINS = [
    "def step(function): return function\n@step\ndef f(): ...\n",
    "import functools\nstep = functools.cache\n@step\ndef f(): ...\n",
    "for target in (str,): pass\n@target\ndef f(): ...\n",
    "from tools import *\n@op\ndef f(): ...\n",
    "from tools import op\n@op('x')\ndef f(): ...\n",
    "def make(transform):\n    @transform\n    def inner(): ...\n",
    "from brainsmith import step\ndef make(*step):\n    @step\n    def inner(model, cfg): ...\n",
    "import click\n@click.op\ndef f(): ...\n",
    STEP + "def f(model, cfg):\n    assert (model, 'x') is 0, '\\d'\n",
    STEP + "def g(model, cfg): ...\n" + "x = 1" + " + 1" * 2000 + "\n",
    "def broken(:\n",
    "return\n",
]


def test_what_is_no_plugin_is_no_problem(project, manager):
    for number, text in enumerate(NO_PLUGINS):
        project.write(f"plugins/tools{number}.py", text)
    manager.discover_plugins(modes=["full"])
    assert manager.problems == ()


def test_problems_are_kept_with_what_was_found(project, manager):
    path = project.write("plugins/wanted.py", STEP + "def wanted(model): ...\n")
    first = manager.discover_plugins(modes=["full"]), manager.problems
    assert len(manager.problems) == 1
    manager.reset()
    assert (manager.discover_plugins(modes=["full"]), manager.problems) == first
    project.write("plugins/wanted.py", STEP + "def wanted(model, cfg): ...\n")
    assert manager.registry.resolve("step", "wanted").file == str(path)
    assert manager.problems == ()


def test_a_name_that_is_not_found_names_the_file_that_holds_it(project, manager):
    path = project.write("plugins/wanted.py", STEP + "def wanted(model): ...\n")
    project.write("plugins/other.py", STEP + "def other(model): ...\n")
    manager.discover_plugins(modes=["full"])
    count = len(steps)
    with pytest.raises(PluginNotFoundError) as caught:
        steps.wanted
    assert str(caught.value) == (
        "no step named 'wanted'\n"
        "  a file that contains this name has a problem:\n"
        f"    {path}:4: @step needs a function (model, cfg) -> model; wanted takes 1 argument\n"
        f"  {count} are registered: brainsmith plugins list --type step"
    )


def test_a_name_that_no_such_file_holds_names_them_all_the_same(project, manager):
    paths = [project.write(f"plugins/bad_{at}.py", STEP + "def bad(model): ...\n") for at in range(5)]
    manager.discover_plugins(modes=["full"])
    count = len(transforms)
    with pytest.raises(PluginNotFoundError) as caught:
        transforms.Xyzzy
    assert str(caught.value) == "\n".join(
        [
            "no transform named 'Xyzzy'",
            "  it may be in a file that has a problem:",
            *(f"    {path}:4: @step needs a function (model, cfg) -> model; bad takes 1 argument" for path in paths[:3]),
            "    and 2 more: brainsmith health",
            f"  {count} are registered: brainsmith plugins list --type transform",
        ]
    )  # fmt: skip


def test_a_folder_of_plugins_that_is_in_no_project_is_reported(elsewhere, manager):
    (elsewhere / "plugins").mkdir()
    (elsewhere / "plugins" / "keep.py").write_text(transform_file("Keep"))
    (elsewhere / "plugins" / "plain.py").write_text("x = 1\n")
    manager.discover_plugins(modes=["full"])
    assert list(map(str, manager.problems)) == [
        f"{elsewhere}/plugins/keep.py:6: transform 'Keep' is not found, because nothing is read from {elsewhere}/plugins: "
        f"make the folder {elsewhere}/.brainsmith, which marks a project"
    ]
    (elsewhere / ".brainsmith").mkdir()
    assert manager.registry.resolve("transform", "Keep").line == 6
    assert manager.problems == ()


def test_a_folder_called_plugin_is_reported(project, manager):
    (project / "plugins").rmdir()
    path = project.write(
        "plugin/two.py", STEP + "def one(model, cfg): ...\n@step\ndef two(model, cfg): ...\n"
    )
    manager.discover_plugins(modes=["full"])
    text = f"{path}:4: step 'one', step 'two' are not found, because nothing is read from {project}/plugin: "
    assert list(map(str, manager.problems)) == [f"{text}rename it to {project}/plugins"]
    (project / "plugins").mkdir()
    manager.discover_plugins(modes=["full"])
    manager.clear_cache()
    manager.discover_plugins(modes=["full"])
    assert list(map(str, manager.problems)) == [f"{text}move its files to {project}/plugins"]


def test_a_folder_that_is_not_read_and_cannot_be_is_reported(elsewhere, manager):
    (elsewhere / "plugin").mkdir()
    (elsewhere / "plugin" / "bad.py").write_text(STEP + "def bad(model): ...\n")
    manager.discover_plugins(modes=["full"])
    assert list(map(str, manager.problems)) == [
        f"{elsewhere}/plugin: nothing is read from this folder: rename it to {elsewhere}/plugins, and make the folder "
        f"{elsewhere}/.brainsmith, which marks a project",
        f"{elsewhere}/plugin/bad.py:4: @step needs a function (model, cfg) -> model; bad takes 1 argument",
    ]


@pytest.mark.parametrize("name", ["plugin", "plugins"])
def test_a_folder_of_other_files_or_one_that_the_settings_name_is_no_problem(elsewhere, manager, name):
    (elsewhere / name).mkdir()
    (elsewhere / name / "tool.py").write_text("import click\n@click.command\ndef f(): ...\n")
    manager.discover_plugins(modes=["full"])
    assert manager.problems == ()
    (elsewhere / name / "keep.py").write_text(step_file("keep"))
    (elsewhere / ".brainsmith").mkdir()
    config = f"plugin_system:\n  plugin_folders: [{name}]\n"
    (elsewhere / ".brainsmith" / "config.yaml").write_text(config)
    assert manager.registry.resolve("step", "keep").framework == "project"
    assert manager.problems == ()


def test_every_decorator_can_be_imported_from_where_the_scan_looks_for_it():
    lines = [f"from {target.rpartition('.')[0]} import {name}" for target, name in DECORATOR_TARGETS.items()]
    assert len(lines) == 4 * len(DECORATORS)
    code = "\n".join([*lines, "import brainsmith", "assert set(brainsmith.__all__) <= set(dir(brainsmith))"])
    assert run_python(code) is None


def test_importing_the_package_imports_nothing_of_it():
    loaded = run_python(
        "import json, sys, brainsmith\nprint(json.dumps([m for m in sys.modules if m.startswith('brainsmith')]))"
    )
    assert loaded == ["brainsmith"]


def test_an_unknown_name_of_the_package_is_an_attribute_error():
    import brainsmith

    with pytest.raises(AttributeError) as caught:
        brainsmith.transfrom  # type: ignore[attr-defined]
    assert str(caught.value) == "module 'brainsmith' has no attribute 'transfrom'"
    assert os.path.basename(brainsmith.__file__) == "__init__.py"
