"""Loading: the real objects; a plugin that fails shows its own error, and the rest of the hub is unharmed."""

# ruff: noqa: E501  (the texts are easier to read on one line)

import sys

import pytest

from brainsmith.errors import PluginLoadError
from brainsmith.plugin.mounted_folders import FOLDER_PREFIX, folder_module
from tests.plugin.installed import run_python, step_file

pytestmark = pytest.mark.usefixtures("no_frameworks")


def load_error(manager, name):
    with pytest.raises(PluginLoadError) as caught:
        manager.registry.get("step", name)
    return caught.value


@pytest.mark.parametrize(
    ("first_lines", "message", "cause"),
    [
        (
            "import nowhere_at_all\n",
            "ModuleNotFoundError: No module named 'nowhere_at_all' ({file}:1)",
            ModuleNotFoundError,
        ),
        ("raise ValueError('too early')\n", "ValueError: too early ({file}:1)", ValueError),
        (
            "def f():\n    return 1 / 0\nf()\n",
            "ZeroDivisionError: division by zero ({file}:2)",
            ZeroDivisionError,
        ),
        ("raise KeyError\n", "KeyError ({file}:1)", KeyError),
        ("import sys\nsys.exit(3)\n", "SystemExit: 3 ({file}:2)", SystemExit),
        (
            "from .absent import x\n",
            "ModuleNotFoundError: No module named '{module}.absent' ({file}:1)",
            ModuleNotFoundError,
        ),
        (
            "exec('return')\n",
            "SyntaxError: 'return' outside function (<string>, line 1)",
            SyntaxError,
        ),
    ],
)
def test_pitfall_13_an_import_error_in_a_plugin_shows_its_own_error_and_place(
    project, manager, first_lines, message, cause
):
    file = project.write("plugins/bad.py", first_lines + step_file("bad"))
    project.write("plugins/fine.py", step_file("fine", 1))
    error = load_error(manager, "bad")
    module = folder_module(str(project / "plugins"))
    line = first_lines.count("\n") + 4
    expected = message.format(file=file, module=module)
    assert (
        str(error)
        == f"step 'project:bad' ({file}:{line}) cannot be loaded: importing '{module}.bad' raised {expected}"
    )
    assert isinstance(error.__cause__, cause)
    assert manager.registry.get("step", "fine")(None, None) == 1
    assert "step:bad" in manager.registry


def test_a_plugin_that_is_mended_loads(project, manager):
    project.write("plugins/bad.py", "import nowhere_at_all\n" + step_file("bad"))
    load_error(manager, "bad")
    project.write("plugins/bad.py", step_file("bad", "mended"))
    manager.discover_plugins(modes=["full"])
    assert manager.registry.get("step", "bad")(None, None) == "mended"


def test_a_name_that_the_module_loses_is_told(project, manager):
    file = project.write("plugins/lost.py", step_file("lost") + "\ndel lost\n")
    module = folder_module(str(project / "plugins"))
    assert (
        str(load_error(manager, "lost"))
        == f"step 'project:lost' ({file}:4): module '{module}.lost' has no 'lost'"
    )


def test_the_object_is_the_one_that_an_import_gives(project, manager, site):
    site.install("acme", "1.0", {"all": "acme_one"}, acme_one=step_file("one", 5))
    info = manager.registry.resolve("step", "one")
    loaded = info.load()
    import acme_one

    assert loaded is acme_one.one is info["class"] is manager.registry.get("step", "acme:one")
    assert loaded.__name__ == "one"
    assert manager.registry.is_loaded(info)


def test_plugins_of_a_project_use_relative_imports_and_packages(project, manager):
    project.write("plugins/shared.py", "VALUE = 42\n")
    project.write("plugins/sub/__init__.py", "FROM_PACKAGE = 1\n")
    project.write(
        "plugins/sub/deep.py", "from ..shared import VALUE\nfrom . import FROM_PACKAGE\n" + step_file("deep")
    )
    project.write("plugins/plain/flat.py", "from .. import shared\n" + step_file("flat"))
    deep, flat = manager.registry.get("step", "deep"), manager.registry.get("step", "flat")
    assert sys.modules[deep.__module__].VALUE == 42
    assert (
        sys.modules[flat.__module__].shared is sys.modules[deep.__module__.rpartition(".sub")[0] + ".shared"]
    )
    assert str(project / "plugins") not in sys.path


def test_a_plugin_finds_the_files_beside_it_as_resources(project, manager):
    project.write("plugins/table.txt", "1 2 3")
    project.write(
        "plugins/reads.py",
        "from importlib.resources import files\nTEXT = (files(__package__) / 'table.txt').read_text()\n"
        + step_file("reads"),
    )
    assert sys.modules[manager.registry.get("step", "reads").__module__].TEXT == "1 2 3"


def test_the_plugin_folder_itself_may_be_a_package(project, manager):
    project.write("plugins/__init__.py", "VALUE = 3\n" + step_file("inside"))
    project.write("plugins/other.py", "from . import VALUE\n" + step_file("other"))
    other, inside = manager.registry.get("step", "other"), manager.registry.get("step", "inside")
    assert sys.modules[other.__module__].VALUE == 3
    assert sys.modules[inside.__module__].inside is inside
    assert other.__module__ == f"{inside.__module__}.other"


def test_a_file_that_nothing_can_import_is_told(project, manager):
    path = project.write("plugins/my-step.py", step_file("mine"))
    project.write("plugins/not-a-plugin.py", "x = 1\n")
    manager.discover_plugins(modes=["full"])
    assert [str(problem) for problem in manager.problems if str(project) in str(problem)] == [
        f"{path}: its name is not a Python identifier, so it cannot be imported and its plugins are not found: rename it"
    ]
    path.rename(project / "plugins/my_step.py")
    assert manager.registry.get("step", "mine")(None, None) is None


def test_plugin_folders_that_are_named_alike_do_not_mix(project, tmp_path, manager, monkeypatch):
    for number in (1, 2):
        folder = tmp_path / str(number) / "plugins"
        folder.mkdir(parents=True)
        (folder / "shared.py").write_text(f"VALUE = {number}\n")
        (folder / "same.py").write_text(
            f"from .shared import VALUE\nfrom brainsmith.plugin.core import step\n@step\ndef step_{number}(m, c): return VALUE\n"
        )
    project.write(
        ".brainsmith/config.yaml",
        f"plugin_system: {{plugin_folders: [{tmp_path}/1/plugins, {tmp_path}/2/plugins]}}\n",
    )
    assert [manager.registry.get("step", f"step_{n}")(None, None) for n in (1, 2)] == [1, 2]


@pytest.mark.slow
def test_pitfall_01_references_work_in_every_process(project):
    project.write("plugins/one.py", step_file("one", "works"))
    code = """
    import json
    from brainsmith.plugins import steps
    info = steps.get_info("one")
    print(json.dumps([info.reference, info["class"](None, None)]))
    """
    first = run_python(code, cwd=project.folder)
    second = run_python(code, cwd=project.folder)
    elsewhere = run_python(code, cwd=project.folder / "plugins")
    assert first == second == elsewhere
    assert first[1] == "works"
    assert first[0].startswith(FOLDER_PREFIX)


@pytest.mark.slow
def test_pitfall_07_a_plugin_whose_import_calls_discovery_does_not_lock(project):
    project.write(
        "plugins/hungry.py",
        """
    from brainsmith.plugin import get_plugin_manager
    from brainsmith.plugin.core import get_registry, step
    NAMES = [info.name for info in get_plugin_manager().discover_plugins(modes=["full"])]
    OTHER = get_registry().get("step", "other")
    from brainsmith.plugins import steps
    steps.other

    @step
    def hungry(model, cfg):
        return OTHER(model, cfg) + len(NAMES) * 0
    """,
    )
    project.write("plugins/other.py", step_file("other", 7))
    code = """
    import json, threading
    from brainsmith.plugin import get_plugin_manager
    manager = get_plugin_manager()
    results = []
    def work():
        manager.discover_plugins(modes=["full"])
        results.append(manager.get_instance("step", "hungry")(None, None))
    threads = [threading.Thread(target=work) for _ in range(8)]
    [t.start() for t in threads]; [t.join(20) for t in threads]
    print(json.dumps(results))
    """
    assert run_python(code, cwd=project.folder, timeout=40) == [7] * 8


@pytest.mark.slow
def test_pitfall_07_two_plugins_that_load_each_other_do_not_lock(project):
    for one, other in (("a", "b"), ("b", "a")):
        project.write(
            f"plugins/{one}.py",
            f"""
        from brainsmith.plugin.core import step
        from brainsmith.plugins import steps

        @step
        def {one}(model, cfg):
            return steps.{other}.__name__
        """,
        )
    code = """
    import json, threading
    from brainsmith.plugins import steps
    results = []
    threads = [threading.Thread(target=lambda n=n: results.append(getattr(steps, n)(None, None))) for n in ("a", "b") * 4]
    [t.start() for t in threads]; [t.join(20) for t in threads]
    print(json.dumps(sorted(results)))
    """
    assert run_python(code, cwd=project.folder, timeout=40) == ["a"] * 4 + ["b"] * 4


def test_pitfall_24_discovery_and_loading_leave_the_process_as_it_was(project, manager):
    import os

    project.write("plugins/one.py", step_file("one"))
    before = os.getcwd(), list(sys.path), dict(os.environ), list(sys.meta_path)
    manager.discover_plugins(modes=["full"])
    manager.registry.get("step", "one")
    assert (os.getcwd(), list(sys.path), dict(os.environ), list(sys.meta_path)) == before


def test_an_overriding_plugin_may_import_the_one_that_it_replaces(project, manager):
    project.write("plugins/original.py", step_file("work", "original"))
    project.write(
        "plugins/better.py",
        """
    from .original import work as original
    from brainsmith.plugin.core import step

    @step(override=True)
    def work(model, cfg):
        return "better than " + original(model, cfg)
    """,
    )
    assert manager.registry.get("step", "work")(None, None) == "better than original"
    assert [info.file.rpartition("/")[2] for info in manager.registry.records("step", "project")] == [
        "better.py"
    ]


def test_two_files_with_one_name_are_an_error_that_names_both(project, manager):
    from brainsmith.errors import DuplicatePluginError

    a = project.write("plugins/a.py", step_file("same"))
    b = project.write("plugins/b.py", step_file("same"))
    project.write("plugins/c.py", step_file("other", 1))
    with pytest.raises(DuplicatePluginError) as caught:
        manager.registry.get("step", "same")
    assert str(caught.value) == f"step 'same' is defined twice in framework 'project':\n  {a}:4\n  {b}:4"
    assert manager.registry.get("step", "other")(None, None) == 1
    assert [str(p) for p in manager.problems if "same" in str(p)] == [f"{b}:4: {caught.value}"]
