"""The record: a frozen value that reads as attributes and as a mapping."""

import pickle

import pytest

from brainsmith.plugin.info import FIELDS, PLUGIN_TYPES, PluginInfo, PluginType

INFO = PluginInfo(
    name="Norm",
    type="transform",
    framework="acme-plugins",
    reference="acme.norms:Norm",
    stage="tidy",
    requires=("qonnx",),
    origin="/x/acme/norms.py:12",
    extra={"vendor": "Acme", "display_name": "A norm"},
)


def test_it_reads_as_attributes_and_as_a_mapping():
    assert INFO.name == INFO["name"] == "Norm"
    assert INFO.vendor == INFO["vendor"] == "Acme"
    assert (INFO.key, INFO.qualified, INFO.module, INFO.file, INFO.line) == (
        "transform:Norm",
        "acme-plugins:Norm",
        "acme.norms",
        "/x/acme/norms.py",
        12,
    )
    assert dict(INFO) == {
        "name": "Norm",
        "type": "transform",
        "framework": "acme-plugins",
        "reference": "acme.norms:Norm",
        "requires": ("qonnx",),
        "stage": "tidy",
        "origin": "/x/acme/norms.py:12",
        "vendor": "Acme",
        "display_name": "A norm",
    }
    assert len(INFO) == len(INFO.keys()) == 9
    assert "class" in INFO
    assert "vendor" in INFO
    assert "stage" in INFO
    assert "nothing" not in INFO
    assert INFO.get("nothing") is None
    assert INFO.get("nothing", 3) == 3
    assert INFO.get("kernel", 3) is None


def test_what_a_target_says_for_people_is_given_like_fields():
    info = PluginInfo(
        name="board", display_name="A board", vendor="Acme", device_types=["fpga"], requires=["pynq"]
    )
    assert (info.display_name, info["vendor"]) == ("A board", "Acme")
    assert info.extra == {"display_name": "A board", "vendor": "Acme"}
    assert (info.device_types, info.requires) == (("fpga",), ("pynq",))
    assert info.replace(vendor="Other").vendor == "Other"
    assert pickle.loads(pickle.dumps(info)) == info


def test_what_it_does_not_have_is_an_error_that_names_it():
    with pytest.raises(KeyError, match="the record of 'transform:Norm' has no 'nothing'"):
        INFO["nothing"]
    with pytest.raises(AttributeError, match="the record of 'transform:Norm' has no attribute 'nothing'"):
        INFO.nothing
    with pytest.raises(TypeError, match="a plugin record has no field 'nam'; it has name, type, framework"):
        PluginInfo(nam="X")


def test_it_is_frozen():
    with pytest.raises(
        AttributeError,
        match=r"the record of 'transform:Norm' cannot be changed; make another with .replace\(name=...\)",
    ):
        INFO.name = "Other"
    with pytest.raises(AttributeError, match="the record of 'transform:Norm' cannot be changed"):
        del INFO.name
    with pytest.raises(AttributeError, match="cannot be changed"):
        INFO.new = 1
    changed = INFO.replace(name="Other")
    assert (changed.name, changed.stage, INFO.name) == ("Other", "tidy", "Norm")


def test_a_copy_s_extra_is_its_own():
    extra = {"a": 1}
    first = PluginInfo(name="X", extra=extra)
    second = first.replace(name="Y")
    extra["b"] = 2
    second.extra["c"] = 3
    assert first.extra == {"a": 1}


def test_it_is_a_value():
    same = PluginInfo(**dict(zip(FIELDS, INFO.to_plain(), strict=True)))
    assert same == INFO
    assert hash(same) == hash(INFO)
    assert INFO.replace(stage="other") != INFO
    assert INFO != "Norm"
    assert len({INFO, same}) == 1
    assert PluginInfo.from_plain(INFO.to_plain()) == INFO
    assert repr(INFO) == "<transform acme-plugins:Norm acme.norms:Norm>"


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_it_is_pickled(protocol):
    copy = pickle.loads(pickle.dumps(INFO, protocol))
    assert copy == INFO
    assert copy.vendor == "Acme"


def test_every_type_has_a_constant():
    assert tuple(value for name, value in vars(PluginType).items() if name.isupper()) == PLUGIN_TYPES


def test_reading_class_loads_and_reading_anything_else_does_not(site):
    import sys

    site.write("lazy_norm.py", "class Norm:\n    pass\n")
    lazy = PluginInfo(name="Norm", type="op", framework="acme", reference="lazy_norm:Norm")
    assert lazy["name"] == "Norm"
    assert dict(lazy)
    assert "lazy_norm" not in sys.modules
    loaded = lazy["class"]
    assert loaded is sys.modules["lazy_norm"].Norm
    assert lazy.load() is loaded


@pytest.mark.parametrize(
    ("origin", "file", "line"),
    [("acme 1.0, entry point 'a:3'", "", 0), ("", "", 0), ("/a/b.py", "", 0), ("C:\\a.py:3", "C:\\a.py", 3)],
)
def test_an_origin_that_is_no_place_has_no_file(origin, file, line):
    info = PluginInfo(name="X", origin=origin)
    assert (info.file, info.line) == (file, line)
