"""Simulations are built once per content, with the right tools, and errors of tools are shown."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from brainsmith.errors import SimulationError, ToolError
from brainsmith.plugin.tools import Tool
from brainsmith.rtl.simulation import simulator_build as building
from brainsmith.rtl.simulation import verilator
from brainsmith.rtl.simulation.simulator_build import build_simulator
from brainsmith.rtl.simulation.toolchain import Toolchain, find_toolchain
from brainsmith.rtl.simulation.verilator import (
    COMPILE,
    RUNTIME,
    Unit,
    compile_model,
    compile_runtime,
    driven_text,
    has_plain_state,
    translation_units,
    unit_text,
    verilate,
)
from tests.rtl import designs
from tests.rtl.designs import stream_design

TOOLS = Toolchain("/opt/verilator_bin", "/opt/root", "/usr/bin/g++", ("5.48", "12.2"))


def test_the_commands_of_a_plan_are_data(tmp_path):
    plan = stream_design(designs.PASS, parameters=(("A", 3), ("B", '"x"')), defines=("D",), trace=True)
    command = verilate(plan, TOOLS, [tmp_path / "layer.v"], tmp_path / "model")
    assert command.arguments[0] == "/opt/verilator_bin"
    assert command.arguments[-4:] == ("-GA=3", '-GB="x"', "-DD", str(tmp_path / "layer.v"))
    assert "--trace-vcd" in command.arguments
    assert command.variables == {"VERILATOR_ROOT": "/opt/root"}
    compiled = compile_model(plan, TOOLS, tmp_path / "all.cc", tmp_path / "runtime", tmp_path / "s.so")
    assert compiled.arguments[: len(COMPILE) + 1] == ("/usr/bin/g++", *COMPILE)
    assert [c.arguments[-1] for c in compile_runtime(TOOLS, tmp_path)] == [
        str(tmp_path / f"{n}.o") for n in (*RUNTIME, "driver")
    ]
    assert unit_text(["a.cpp", "b.cpp"], trace=True) == (
        "#define BRAINSMITH_TRACE\n#define VM_TRACE 1\n#define VM_TRACE_VCD 1\n#define WAVES 1\n"
        '#include "a.cpp"\n#include "b.cpp"\n'
    )
    assert driven_text("TABLE", Path("/kept/memories")) == (
        '\nTABLE\n#define BRAINSMITH_MEMORIES "/kept/memories/"\n#include "design.cpp"\n'
    )
    assert driven_text("", Path("/kept"), state=True).endswith(
        '\n#define BRAINSMITH_STATE\n#include "design.cpp"\n'
    )


def test_state_is_plain_unless_a_module_points_elsewhere():
    plain = (
        "class Vtop___024root final {\n    VlUnpacked<CData/*7:0*/, 4> Mem;\n    VlWide<3>/*69:0*/ sum;\n};"
    )
    assert has_plain_state([plain, plain])
    assert not has_plain_state([plain, plain.replace("VlWide<3>", "VlQueue<CData>")])


def test_a_large_design_is_compiled_in_parts():
    small = {"Vtop.cpp": 1_000, "Vtop___024root__0.cpp": 1_000}
    assert translation_units(small) == (Unit("all.cc", ("Vtop.cpp", "Vtop___024root__0.cpp")),)
    large = {f"Vtop___024root__{at}.cpp": 1_100_000 for at in range(4)}
    assert translation_units({**large, "Vtop___024root__Slow.cpp": 900_000, "Vtop.cpp": 900_000}) == (
        Unit("part_0.cc", ("Vtop.cpp", "Vtop___024root__0.cpp"), ("-O1",)),
        Unit("part_1.cc", ("Vtop___024root__1.cpp",), ("-O1",)),
        Unit("part_2.cc", ("Vtop___024root__2.cpp",), ("-O1",)),
        Unit("part_3.cc", ("Vtop___024root__3.cpp",), ("-O1",)),
        Unit("part_4.cc", ("Vtop___024root__Slow.cpp",), ("-O0",)),
        Unit("all.cc", ("Vtop.h",)),
    )


@pytest.mark.slow
@pytest.mark.parametrize("quick", [True, False])
@pytest.mark.parametrize("trace", [True, False])
def test_parts_compute_what_one_unit_does(simulations, tmp_path, monkeypatch, quick, trace):
    plan = stream_design(designs.PASS.replace("in0_V_TDATA", "(8'd9 ^ in0_V_TDATA)"), trace=trace)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(verilator, "WHOLE", 0)
    monkeypatch.setattr(verilator, "PART", 0)
    simulator = build_simulator(plan, quick=quick)
    beats = np.arange(9, dtype=np.uint8)[:, None]
    wave = tmp_path / "wave.vcd" if trace else None
    found = simulator.run({"in0_V": beats}, {"out0_V": 9}, trace=wave).streams["out0_V"].words
    assert found.ravel().tolist() == (beats.ravel() ^ 9).tolist()
    assert wave is None or "in0_V_TDATA" in wave.read_text()


@pytest.mark.slow
def test_what_the_compiler_says_of_a_part_is_shown(simulations, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(verilator, "WHOLE", 0)
    monkeypatch.setattr(building, "unit_text", lambda files, trace=False: "no C++\n")
    with pytest.raises(
        SimulationError, match=r"^g\+\+ \(design 'layer'\) failed:\n  .*error: .no. does not name a type"
    ):
        build_simulator(stream_design(designs.PASS))


def test_the_same_content_is_built_once(build, simulations, monkeypatch):
    plan = stream_design(designs.PASS)
    build(plan)
    monkeypatch.setattr(building, "run_compiler", None)  # any command would fail
    simulator = build_simulator(plan, tools=find_toolchain(), quick=True)
    beats = np.arange(9, dtype=np.uint8)[:, None]
    assert simulator.run({"in0_V": beats}, {"out0_V": 9}).cycles == 9


@pytest.mark.slow
def test_an_optimised_simulation_serves_where_a_quick_one_would_do(build, simulations, monkeypatch):
    plan = stream_design(designs.PASS.replace("in0_V_TDATA", "(8'd7 ^ in0_V_TDATA)"))
    build(plan, quick=False)
    monkeypatch.setattr(building, "run_compiler", None)  # any command would fail
    simulator = build_simulator(plan, tools=find_toolchain(), quick=True)
    beats = np.arange(9, dtype=np.uint8)[:, None]
    found = simulator.run({"in0_V": beats}, {"out0_V": 9}).streams["out0_V"].words
    assert found.ravel().tolist() == (beats.ravel() ^ 7).tolist()


@pytest.mark.slow
def test_a_damaged_simulation_is_built_again(build, simulations, tmp_path):
    plan = stream_design(designs.PASS.replace("in0_V_TDATA", "~in0_V_TDATA"))
    build(plan)
    (entry,) = (path for path in simulations.glob("*/sources/layer.v") if "~in0_V_TDATA" in path.read_text())
    library = entry.parent.parent / "simulation.so"
    whole = library.read_bytes()
    library.unlink()  # this process has it mapped
    library.write_bytes(whole[:1000])
    simulator = build(plan)
    assert len(library.read_bytes()) == len(whole)
    beats = np.arange(9, dtype=np.uint8)[:, None]
    assert simulator.run({"in0_V": beats}, {"out0_V": 9}).cycles == 9


def test_what_verilator_rejects_is_quoted(build):
    with pytest.raises(SimulationError) as caught:
        build(stream_design("assign out0_V_TDATA = nothing;"))
    first, second, *_ = str(caught.value).splitlines()
    assert first == "Verilator (design 'layer') failed:"
    assert "sources/layer.v:5:23: Can't find definition of variable: 'nothing'" in second


def test_what_the_compiler_rejects_is_quoted(build, simulations):
    tools = find_toolchain()
    broken = simulations.parent / "broken-g++"
    broken.write_text(
        "#!/bin/sh\necho 'fatal error: error writing to /tmp/x: No space left on device' >&2\nexit 1\n"
    )
    broken.chmod(0o755)
    tools = Toolchain(tools.verilator, tools.root, str(broken), (tools.versions[0], "broken"))
    with pytest.raises(SimulationError) as caught:
        build_simulator(stream_design(designs.PASS), tools=tools)
    assert str(caught.value) == (
        "g++ (Verilator's verilated.cpp) failed:\n"
        "  fatal error: error writing to /tmp/x: No space left on device"
    )


def test_pitfall_36_all_missing_tools_are_named_at_once(monkeypatch):
    old = Tool("verilator", "", "5.006", "old", "/usr/bin/verilator is 5.006; needed is 5.48 or newer")
    monkeypatch.setattr("brainsmith.rtl.simulation.toolchain.find_verilator", lambda: old)
    monkeypatch.setattr(
        "brainsmith.rtl.simulation.toolchain.find_program", lambda name, note: Tool(name, note=note)
    )
    with pytest.raises(ToolError) as caught:
        find_toolchain()
    assert str(caught.value) == (
        "no simulation can be built:\n"
        "  Verilator 5.48 or newer is old: /usr/bin/verilator is 5.006; needed is 5.48 or newer\n"
        "  g++ is missing: install a C++ compiler, such as Debian's g++"
    )


def test_pitfall_36_an_older_verilator_on_the_path_is_passed_over(tmp_path, monkeypatch, simulations):
    old = tmp_path / "verilator"
    old.write_text("#!/bin/sh\necho Verilator 5.006\n")
    old.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    tools = find_toolchain()
    assert tools.verilator != str(old)
    assert tools.versions[0] != "5.006"


def test_a_verilator_that_is_installed_says_where_its_headers_are(tmp_path, monkeypatch):
    root, program = tmp_path / "share", tmp_path / "bin" / "verilator_bin"
    (root / "include").mkdir(parents=True)
    (root / "include" / "verilated.h").write_text("")
    program.parent.mkdir()
    launcher = program.with_name("verilator")
    launcher.write_text(f"#!/bin/sh\necho {root}\n")
    launcher.chmod(0o755)
    found = Tool("verilator", str(program), "5.50", "found")
    monkeypatch.setattr("brainsmith.rtl.simulation.toolchain.find_verilator", lambda: found)
    monkeypatch.setattr(
        "brainsmith.rtl.simulation.toolchain.find_program",
        lambda name, note: Tool(name, "/g++", "12", "found"),
    )
    assert find_toolchain() == Toolchain(str(program), str(root), "/g++", ("5.50", "12"))
    shutil.rmtree(root)
    with pytest.raises(
        ToolError, match=r"does not say where its headers are \(--getenv VERILATOR_ROOT gives "
    ):
        find_toolchain()


BOTH = """
import numpy as np
from brainsmith.rtl.simulation.simulator_build import build_simulator
from tests.rtl.designs import PASS, stream_design
plan = stream_design(PASS.replace("= in0_V_TDATA", "= in0_V_TDATA + 1"))
simulator = build_simulator(plan, quick=True)
result = simulator.run({"in0_V": np.arange(9, dtype=np.uint8)[:, None]}, {"out0_V": 9})
print(result.streams["out0_V"].words[:, 0].tolist())
"""


@pytest.mark.slow
def test_two_processes_at_once_build_and_run(build, simulations):
    build(stream_design(designs.PASS))  # the runtime is there
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    children = [
        subprocess.Popen([sys.executable, "-c", BOTH], env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    assert [child.communicate(timeout=60)[0] for child in children] == ["[1, 2, 3, 4, 5, 6, 7, 8, 9]\n"] * 2


def test_a_module_that_lies_in_the_current_folder_is_no_part_of_a_simulation(
    tmp_path, monkeypatch, simulations
):
    (tmp_path / "beside.sv").write_text("module beside; initial $fatal; endmodule\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SimulationError, match="Cannot find file containing module: 'beside'"):
        build_simulator(stream_design(f"{designs.PASS}\nbeside b();"), quick=True)
