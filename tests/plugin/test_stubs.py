"""Type stubs: what they say, and what type checkers make of them."""

import ast
import subprocess
import sys

import pytest

from brainsmith.errors import OutputError
from brainsmith.plugin.details import Parameter
from brainsmith.plugin.info import PluginInfo
from brainsmith.plugin.plugin_registry import Registry
from brainsmith.plugin.stub_signatures import annotation, signature
from brainsmith.plugin.stubs import stub_text, write_stubs
from tests.plugin.installed import transform_file

DOOR = {
    "load_blueprint_plugins": "brainsmith.blueprint.blueprint_plugins",
    "reset_plugin_system": "brainsmith.plugin.manager",
}

USER = """\
from brainsmith.plugins import backends as bk, kernels as kn, load_blueprint_plugins, reset_plugin_system, steps
from brainsmith.plugins import transforms as tfm

tfm.ExpandNorms()
tfm.finn.Streamline()
tfm.qonnx.FoldConstants()
tfm.Streamline().apply(None)
tfm.finn.SetFolding(target_cycles_per_frame=10, two_pass_relaxation=False)
steps.cleanup(None, None)
steps["finn:transformer_adhoc.step_convert_to_hw"](None, None)
kn.finn.LayerNorm(None)
names: list[str] = kn.backends("LayerNorm").names() + bk.of("LayerNorm").names()
stages: list[str | None] = [info.stage for info in tfm.list_plugins()]
length: int = len(tfm) + len(kn.finn)
known: bool = "ExpandNorms" in tfm
reset_plugin_system()
load_blueprint_plugins("my.yaml")
BUILD_STEPS = [steps.cleanup, lambda m, cfg: m.transform(tfm.ExpandNorms()), steps.finn.step_streamline]


class Mine(tfm.finn.Streamline):
    pass


def apply(one: tfm.ExpandNorms) -> Mine:
    one.apply(None)
    return Mine()
"""

WRONG = """\
from brainsmith.plugins import kernels as kn
from brainsmith.plugins import steps
from brainsmith.plugins import transforms as tfm

tfm.finn.Streamlin
tfm.finn.Streamline(fast=True)
tfm.ExpandNorm
tfm.MoveAddPastFork
steps.cleanup(None, None, None)
kn.NoKernel
tfm.finn.SetFolding("ten")
"""


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The stubs of everything that is installed."""
    from brainsmith.plugin.manager import get_plugin_manager

    folder = tmp_path_factory.mktemp("typings")
    registry, _ = get_plugin_manager().all_records()
    return folder, write_stubs(registry, DOOR, str(folder))


@pytest.fixture(scope="module")
def checked(written, tmp_path_factory):
    """What mypy says of a right and a wrong file, as strictly as it can."""
    folder = tmp_path_factory.mktemp("checked")
    (folder / "user.py").write_text(USER)
    (folder / "wrong.py").write_text(WRONG)
    (folder / "mypy.ini").write_text(f"[mypy]\nstrict = True\nmypy_path = {written[0]}\n")
    command = [sys.executable, "-m", "mypy", "--config-file", "mypy.ini", "--cache-dir", "cache"]
    done = subprocess.run(
        [*command, "user.py", "wrong.py"], cwd=folder, capture_output=True, text=True, check=False
    )
    return done.stdout.splitlines()


@pytest.mark.slow
def test_a_users_file_is_accepted(checked):
    assert checked[-1].endswith(" in 1 file (checked 2 source files)")
    assert [line for line in checked if line.startswith("user.py")] == []


@pytest.mark.slow
def test_wrong_names_and_arguments_are_reported(checked):
    assert [line for line in checked if "note:" not in line] == [
        'wrong.py:5: error: "type[finn]" has no attribute "Streamlin"  [attr-defined]',
        'wrong.py:6: error: Unexpected keyword argument "fast" for "Streamline"  [call-arg]',
        'wrong.py:7: error: "type[transforms]" has no attribute "ExpandNorm"  [attr-defined]',
        'wrong.py:8: error: "type[transforms]" has no attribute "MoveAddPastFork"  [attr-defined]',
        "wrong.py:9: error: Too many arguments  [call-arg]",
        'wrong.py:10: error: "type[kernels]" has no attribute "NoKernel"  [attr-defined]',
        'wrong.py:11: error: Argument 1 to "SetFolding" has incompatible type "str"; expected "int"  [arg-type]',
        "Found 7 errors in 1 file (checked 2 source files)",
    ]


def test_every_plugin_has_its_place(written):
    """What the stub lacks, it says in a comment."""
    from brainsmith.plugin.manager import get_plugin_manager

    text = open_text(written[1])
    tree = {node.name: node for node in ast.parse(text).body if isinstance(node, ast.ClassDef)}
    names = {
        (collection, framework.name, plugin.name)
        for collection in ("transforms", "kernels", "backends", "steps")
        for framework in tree[collection].body
        if isinstance(framework, ast.ClassDef)
        for plugin in framework.body
        if isinstance(plugin, ast.ClassDef | ast.FunctionDef)
    }
    missing = [
        info.qualified
        for info in get_plugin_manager().all_records()[0].records()
        if info.type in ("transform", "kernel", "backend", "step")
        and (f"{info.type}s", info.framework, info.name) not in names
    ]
    assert missing == ["finn:transformer_adhoc.step_convert_to_hw"]
    assert (
        '# steps["finn:transformer_adhoc.step_convert_to_hw"]: its name is not an identifier, or is taken'
        in text
    )


def open_text(path):
    with open(path) as file:
        return file.read()


def test_docstrings_are_in_it(written):
    text = open_text(written[1])
    assert (
        '        class Streamline(_Transformation):\n            """Apply the streamlining transform' in text
    )


def record(name, framework="acme", **fields):
    return PluginInfo(
        **{"type": "transform", "name": name, "framework": framework, "reference": f"m:{name}", **fields}
    )


def a_registry(*infos):
    registry = Registry()
    for info in infos:
        registry.register(info)
    return registry


def test_names_that_no_attribute_can_have_are_left_out_and_said():
    text = stub_text(a_registry(record("a.b"), record("class"), record("list_plugins"), record("Good")), DOOR)
    ast.parse(text)
    for name in ("a.b", "class", "list_plugins"):
        assert f'# transforms["acme:{name}"]: its name is not an identifier, or is taken' in text
    assert "    Good: TypeAlias = acme.Good" in text


def test_a_plugin_hides_the_framework_of_its_name():
    text = stub_text(a_registry(record("acme"), record("Other")), DOOR)
    ast.parse(text)
    assert "    class _acme(metaclass=_Plugins):" in text
    assert "    acme: TypeAlias = _acme.acme" in text


def test_the_bare_name_is_the_one_with_precedence():
    owners = (("X", "finn"), ("X", "project"), ("Y", "finn"), ("Y", "qonnx"))
    text = stub_text(a_registry(*(record(name, framework) for name, framework in owners)), DOOR)
    assert "    X: TypeAlias = project.X" in text
    assert "    Y: TypeAlias" not in text


def test_an_empty_hub_gives_a_valid_stub():
    ast.parse(stub_text(Registry(), DOOR))


def test_docstrings_of_every_kind_are_valid(project):
    docstring = 'Say "hello"\\n and \\\\d, then \\"\\"\\" and end with a quote: \\"'
    project.write("plugins/odd.py", transform_file("Odd").replace("Change nothing.", docstring))
    from brainsmith.plugin.manager import get_plugin_manager

    manager = get_plugin_manager()
    manager.discover_plugins(frameworks=["project"])
    text = stub_text(manager.registry, DOOR)
    (collection,) = [
        n for n in ast.parse(text).body if isinstance(n, ast.ClassDef) and n.name == "transforms"
    ]
    (framework,) = [n for n in collection.body if isinstance(n, ast.ClassDef) and n.name == "project"]
    assert ast.get_docstring(framework.body[0]) == 'Say "hello"\nand \\d, then """ and end with a quote: "'


def test_a_plugin_whose_source_is_gone_takes_anything():
    assert "        def __init__(self, *args: Any, **kwargs: Any) -> None: ..." in stub_text(
        a_registry(record("Gone", origin="nowhere.py:1")), DOOR
    ).replace("            def", "        def")


@pytest.mark.parametrize(
    ("text", "default", "expected"),
    [
        ("int", "3", "int"),
        ("int", "None", "int | None"),
        ("Optional[int]", "None", "Optional[int]"),
        ("int | None", "None", "int | None"),
        ("list", "[]", "list[Any]"),
        ("dict[str, list]", "{}", "dict[str, list[Any]]"),
        ("Callable", "print", "Callable[..., Any]"),
        ("'int'", "3", "int"),
        ("'ModelWrapper'", "3", "Any"),
        ("np.ndarray", "None", "Any"),
        ("DataType", "None", "Any"),
        ("", "3", "Any"),
        ("not python(", "3", "Any"),
    ],
)
def test_annotations(text, default, expected):
    assert annotation(Parameter("x", default, text)) == expected


def test_signatures():
    parameters = [
        Parameter("a"),
        Parameter("b", "DEFAULT", "int"),
        Parameter("*rest"),
        Parameter("c", "'x'", "str", keyword_only=True),
        Parameter("**more"),
    ]
    assert signature(parameters) == "a: Any, b: int = ..., *rest: Any, c: str = 'x', **more: Any"
    only_by_name = [Parameter("a"), Parameter("b", keyword_only=True), Parameter("c", "1", keyword_only=True)]
    assert signature(only_by_name) == "a: Any, *, b: Any, c: Any = 1"


def test_a_folder_that_cannot_be_written_is_an_error():
    with pytest.raises(OutputError) as caught:
        write_stubs(Registry(), DOOR, "/proc/nowhere")
    assert str(caught.value) == (
        "/proc/nowhere/brainsmith/plugins.pyi: the stubs cannot be written: No such file or directory"
    )
