"""Verilator's headers are precompiled once per content of all that they are made of, and nothing depends on it."""

import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from brainsmith.errors import SimulationError, ToolError
from brainsmith.plugin.processes import run
from brainsmith.rtl.simulation.precompiled_headers import find_precompiled
from brainsmith.rtl.simulation.simulator_build import build_simulator
from brainsmith.rtl.simulation.toolchain import Toolchain, find_toolchain
from brainsmith.rtl.simulation.verilator import READ_BY_RUNTIME, compile_model
from brainsmith.store.folders import KeptFolders
from tests.rtl import designs
from tests.rtl.designs import stream_design

COMPILER = """#!/bin/sh
echo "$@" >> {calls}
for last; do :; done
echo compiled > "$last"
"""
"""It makes the file that its last argument names."""

REAL_BUT_NOT_WITH_HEADERS = """#!/bin/sh
echo "$@" >> {calls}
case "$*" in *"/headers.h -I"*) echo "fatal error: had to relocate PCH" >&2; exit 1;; esac
exec {real} "$@"
"""


class Kept:
    """A folder of simulations, and headers and a compiler that tests change."""

    def __init__(self, folder):
        self.store = KeptFolders(folder / "rtl")
        self.header = folder / "a header.h"
        self.header.write_text("int a;\n")
        self.calls = folder / "calls"
        self.tools = Toolchain("/verilator", "/root", str(folder / "g++"), ("5.48", "12.2"))
        self.compiler(COMPILER)
        runtime = folder / "runtime"
        runtime.mkdir()
        (runtime / READ_BY_RUNTIME).write_text(
            f"{folder}/verilated.o: \\\n {folder}/a\\ header.h \\\n {folder}/g++\n"
        )
        self.runtime = runtime

    def compiler(self, script):
        path = Path(self.tools.compiler)
        path.write_text(script.format(calls=self.calls))
        path.chmod(0o755)

    def find(self):
        return find_precompiled(self.store, self.tools, self.runtime, _execute)

    @property
    def made(self):
        return len(self.calls.read_text().splitlines()) if self.calls.exists() else 0


def _execute(command):
    try:
        run(command.arguments, timeout=20, what=command.what)
    except ToolError as error:
        raise SimulationError(str(error)) from error


@pytest.fixture
def kept(tmp_path):
    return Kept(tmp_path)


def test_headers_are_compiled_once(kept):
    first = kept.find()
    assert first.read_text() == '#include "redirect.h"\n#include "verilated.h"\n'
    assert first.with_name("headers.h.gch").read_text() == "compiled\n"
    assert (kept.find(), kept.made) == (first, 1)


def test_a_changed_header_is_never_taken_for_the_one_that_was_compiled(kept):
    first = kept.find()
    before = os.stat(kept.header)
    kept.header.write_text("int b;\n")
    os.utime(kept.header, ns=(before.st_atime_ns, before.st_mtime_ns))
    second = kept.find()
    assert second != first
    assert kept.made == 2
    kept.header.write_text("int a;\n")
    assert (kept.find(), kept.made) == (first, 2)


def test_another_compiler_compiles_them_again(kept):
    first = kept.find()
    kept.compiler(COMPILER + "# another one\n")
    assert kept.find() != first
    assert kept.made == 2


def test_what_was_damaged_or_removed_is_compiled_again(kept):
    first = kept.find()
    compiled = first.with_name("headers.h.gch")
    compiled.unlink()
    compiled.write_text("damaged")
    assert kept.find() == first
    assert (compiled.read_text(), kept.made) == ("compiled\n", 2)
    shutil.rmtree(first.parent)
    assert kept.find() == first
    assert (compiled.read_text(), kept.made) == ("compiled\n", 3)


def test_a_compiler_that_cannot_do_it_is_asked_once(kept):
    kept.compiler(COMPILER + "exit 1\n")
    header = kept.find()
    assert [path.name for path in header.parent.glob("headers*")] == ["headers.h"]
    assert (kept.find(), kept.made) == (header, 1)


def test_without_a_header_or_a_folder_to_write_there_is_none(kept, tmp_path):
    kept.header.unlink()
    assert kept.find() is None
    kept.header.write_text("int a;\n")
    kept.store = KeptFolders(kept.header / "rtl")
    assert (kept.find(), kept.made) == (None, 0)


def test_headers_in_use_are_not_removed(kept):
    header = kept.find()
    KeptFolders(kept.store.folder, limit=0).trim()
    assert header.with_name("headers.h.gch").is_file()


@pytest.mark.slow
def test_the_compiler_takes_them_for_a_quick_compile(build, simulations, tmp_path):
    build(stream_design(designs.PASS))
    tools = find_toolchain()
    (runtime,) = simulations.glob("runtime-*")
    header = find_precompiled(KeptFolders(simulations), tools, runtime, None)
    unit = tmp_path / "all.cc"
    unit.write_text("VerilatedContext context;\n")
    command = compile_model(
        stream_design(designs.PASS), tools, unit, runtime, tmp_path / "s.so", True, header
    )
    done = subprocess.run(
        [*command.arguments, "-fsyntax-only", "-H"], capture_output=True, text=True, check=True
    )
    assert done.stderr.splitlines()[0] == f"! {header}.gch"


@pytest.mark.slow
def test_a_compile_that_fails_with_them_is_done_without(build, simulations, tmp_path, monkeypatch):
    plan = stream_design(designs.PASS)
    build(plan)
    (runtime,) = simulations.glob("runtime-*")
    own = tmp_path / "brainsmith" / "rtl"
    shutil.copytree(runtime, own / runtime.name)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    tools = find_toolchain()
    compiler, calls = tmp_path / "g++", tmp_path / "calls"
    compiler.write_text(REAL_BUT_NOT_WITH_HEADERS.format(calls=calls, real=tools.compiler))
    compiler.chmod(0o755)
    tools = Toolchain(tools.verilator, tools.root, str(compiler), tools.versions)
    simulator = build_simulator(plan, tools=tools, quick=True)
    beats = np.arange(9, dtype=np.uint8)[:, None]
    assert simulator.run({"in0_V": beats}, {"out0_V": 9}).cycles == 9
    kinds = ["c++-header" in call or "headers.h" in call for call in calls.read_text().splitlines()]
    assert kinds == [True, True, False]
    shutil.rmtree(own, ignore_errors=True)
