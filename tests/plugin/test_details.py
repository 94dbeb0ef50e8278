"""Parameters and docstrings, read from the source without importing it."""

import inspect
import os
import sys
import time

import pytest

from brainsmith.errors import PluginLoadError
from brainsmith.plugin.details import Parameter
from brainsmith.plugin.info import PluginInfo

SOURCE = '''
import dataclasses
from acme_base import Base as Renamed, Data
import acme_base


class Own:
    """One line.

        Indented.
    """

    def __init__(self, a, b: int = 3, /, *rest, c, d: "str" = "x", **more):
        pass


class Inherits(Renamed):
    pass


class InheritsByModule(acme_base.Base):
    """Doc."""


class Nothing:
    x = 1


class Deep(Nothing, Inherits):
    pass


@dataclasses.dataclass(frozen=True)
class Fields:
    x: int
    y: str = "z"


class Itself(Itself):
    pass


def function(model, cfg, depth: int = 2):
    """Do it."""


class Twice:
    """First."""

    def __init__(self, first): ...


class Twice:
    """Second."""

    def __init__(self, second): ...
'''

BASE = "class Base:\n    def __init__(self, size: int = 8, *, deep=False):\n        pass\n"


@pytest.fixture
def info(site):
    path = site.write("acme_details.py", SOURCE)
    site.write("acme_base.py", BASE + "class Data: pass\n")

    def make(name):
        return PluginInfo(
            name=name,
            type="transform",
            framework="acme",
            reference=f"acme_details:{name}",
            origin=f"{path}:1",
        )

    return make


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("Own", ["a", "b: int = 3", "*rest", "c", "d: 'str' = 'x'", "**more"]),
        ("Inherits", ["size: int = 8", "deep=False"]),
        ("InheritsByModule", ["size: int = 8", "deep=False"]),
        ("Deep", ["size: int = 8", "deep=False"]),
        ("Nothing", []),
        ("Fields", ["x: int", "y: str = 'z'"]),
        ("Itself", []),
        ("function", ["model", "cfg", "depth: int = 2"]),
        ("Twice", ["second"]),
    ],
)
def test_parameters_are_those_of_the_constructor_or_function(info, name, parameters):
    for _ in range(2):  # the second time from the disk
        assert [str(parameter) for parameter in info(name).parameters] == parameters
    assert not any(module in sys.modules for module in ("acme_details", "acme_base"))


def test_docstrings_are_cleaned(info):
    assert info("Own").docstring == "One line.\n\nIndented."
    assert info("Inherits").docstring == ""
    assert info("function").docstring == "Do it."
    assert info("Twice").docstring == "Second."


def test_what_a_call_must_give_is_known(info):
    assert [(p.name, p.required, p.keyword_only) for p in info("Own").parameters] == [
        ("a", True, False),
        ("b", False, False),
        ("*rest", False, False),
        ("c", True, True),
        ("d", False, True),
        ("**more", False, False),
    ]
    assert Parameter("a") == Parameter("a")
    assert hash(Parameter("a")) == hash(Parameter("a"))
    assert repr(Parameter("a", "1")) == "Parameter('a=1')"


def test_a_changed_file_is_read_again(info, site):
    first = info("function")
    assert first.docstring == "Do it."
    site.write("acme_details.py", SOURCE.replace("Do it.", "Do more."))
    assert first.docstring == "Do more."


def test_a_changed_base_is_read_again(info, site):
    assert len(info("Inherits").parameters) == 2
    site.write("acme_base.py", BASE.replace(", *, deep=False", ""))
    assert len(info("Inherits").parameters) == 1


def test_a_source_that_is_not_there_is_an_error(info, site):
    with pytest.raises(PluginLoadError) as caught:
        info("Absent").parameters
    assert (
        str(caught.value)
        == f"{site}/acme_details.py does not define 'Absent'; it may be imported there from elsewhere"
    )
    (site / "acme_details.py").unlink()
    with pytest.raises(PluginLoadError) as caught:
        info("Own").docstring
    assert str(caught.value) == f"transform 'acme:Own': its source '{site}/acme_details.py' does not exist"
    site.write("acme_details.py", "class Own(:\n")
    with pytest.raises(PluginLoadError, match=r"acme_details.py:1: the file is not Python: invalid syntax"):
        info("Own").parameters


def test_a_table_s_plugin_is_found_by_its_module(info):
    plain = info("function").replace(origin="acme 1.0, entry point 'all'")
    assert plain.docstring == "Do it."


@pytest.mark.parametrize("framework", ["qonnx", "finn", "brainsmith"])
def test_details_are_those_of_the_imported_class(manager, framework):
    """For classes whose constructor can be seen; a sample, because importing costs."""
    names = {
        "qonnx": ["FoldConstants", "InferShapes", "GiveUniqueNodeNames"],
        "finn": ["Streamline", "RoundAndClipThresholds"],
        "brainsmith": ["ExpandNorms", "MergeOpChains", "ConvertDivToMul"],
    }[framework]
    for name in names:
        info = manager.registry.resolve("transform", f"{framework}:{name}")
        real = info.load()
        signature = [
            p for p in list(inspect.signature(real.__init__).parameters)[1:] if p not in ("args", "kwargs")
        ]
        assert [
            parameter.name.lstrip("*")
            for parameter in info.parameters
            if parameter.name.lstrip("*") not in ("args", "kwargs")
        ] == signature
        assert info.docstring == (
            inspect.cleandoc(real.__doc__) if "__doc__" in vars(real) and real.__doc__ else ""
        )


@pytest.mark.slow
def test_every_record_has_details(manager):
    """None of QONNX and FINN fails."""
    records = [
        info for info in manager.discover_plugins(modes=["full"]) if info.framework in ("qonnx", "finn")
    ]
    for info in records[::7]:
        assert isinstance(info.docstring, str)
        assert isinstance(info.parameters, tuple)


def test_two_edits_of_equal_size_within_a_tick_are_both_seen(site, monkeypatch):
    """On a file system whose clock has whole seconds, and no time of a file's status."""
    from brainsmith.plugin import details

    def slow(path, real=details.stamp):
        changed, _, size = real(path)
        return changed - changed % 1_000_000_000, changed - changed % 1_000_000_000, size

    monkeypatch.setattr(details, "stamp", slow)
    monkeypatch.setattr(details, "stamps", lambda paths: [slow(path) for path in paths])
    now = time.time_ns()
    for default in (1, 2, 3):
        path = site.write("acme_edited.py", f"def function(model, cfg, depth={default}): pass\n")
        os.utime(path, ns=(now, now))
        info = PluginInfo(
            name="function",
            type="step",
            framework="acme",
            reference="acme_edited:function",
            origin=f"{path}:1",
        )
        assert [str(parameter) for parameter in info.parameters][-1] == f"depth={default}"
