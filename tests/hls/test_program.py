"""HLS C++ compiled and run: its streams, and what is said of programs that do not do what they should."""

import re

import numpy as np
import pytest

from brainsmith.errors import SimulationError, ToolError
from brainsmith.hls import HlsProgram, HlsStream, compile_program, find_headers, run_program
from brainsmith.rtl.simulation.beats import pack, unpack

DOUBLED = """
#include "twice.h"
void doubled(hls::stream<ap_uint<70>> &in0_V, hls::stream<ap_uint<7>> &out0_V) {
#pragma HLS INTERFACE axis port=in0_V
    ap_uint<70> beat = in0_V.read();
    out0_V.write(twice(beat));
}
"""
TWICE = "template <int BITS> ap_uint<7> twice(ap_uint<BITS> value) { return ap_uint<7>(value + value); }\n"
STREAMS = (HlsStream("in0_V", 70, fed=True), HlsStream("out0_V", 7, fed=False))


def program(source=DOUBLED, headers=None):
    return HlsProgram("doubled", source, STREAMS, {"twice.h": TWICE} if headers is None else headers)


@pytest.mark.slow
def test_beats_of_any_width_go_in_and_come_out():
    lanes = np.random.default_rng(0).integers(0, 1 << 10, (50, 7))
    given = run_program(program(), {"in0_V": pack(lanes, 10)}, {"out0_V": 50}, calls=50)
    np.testing.assert_array_equal(unpack(given["out0_V"], 7, 1, signed=False)[:, 0], 2 * lanes[:, 0] % 128)


@pytest.mark.slow
def test_a_program_is_compiled_once_per_content():
    path = compile_program(program())
    assert compile_program(program()) == path
    made = path.stat().st_mtime_ns
    assert compile_program(program(headers={"twice.h": TWICE + "\n"})) != path
    assert path.stat().st_mtime_ns == made


@pytest.mark.slow
@pytest.mark.parametrize(
    ("calls", "beats", "message"),
    [
        (3, 4, "doubled: in0_V has 1 left of 4 beats, out0_V lacks 1 of 4 beats after 3 calls"),
        (4, 3, "doubled: out0_V has 1 left of 3 beats after 4 calls"),
    ],
)
def test_beats_that_are_left_or_lacking_are_an_error(calls, beats, message):
    fed = {"in0_V": pack(np.ones((4, 7), int), 10)}
    with pytest.raises(SimulationError, match=f"^{re.escape(message)}$"):
        run_program(program(), fed, {"out0_V": beats}, calls)


def test_beats_of_another_width_are_refused():
    with pytest.raises(ValueError, match=r"^in0_V: beats of 70 bits are rows of 9 bytes$"):
        run_program(program(), {"in0_V": pack(np.ones((4, 1), int), 10)}, {"out0_V": 4}, 4)


def test_what_the_compiler_rejects_is_quoted():
    with pytest.raises(SimulationError, match=r"(?s)^compiling doubled failed:\n  .*twice\.h.*No such file"):
        compile_program(program(headers={}))


def test_the_headers_are_found_without_their_package_being_imported():
    import sys

    imported = "hls4ml" in sys.modules
    assert (find_headers() / "hls_stream.h").is_file()
    assert ("hls4ml" in sys.modules) == imported


def test_without_the_headers_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr("brainsmith.plugin.tools.package_folders", lambda name: [])
    message = (
        "no HLS C++ can be compiled: the headers are missing: has the headers that simulations of HLS C++ need; "
        "pip install 'brainsmith[hls]'"
    )
    with pytest.raises(ToolError, match=f"^{re.escape(message)}$"):
        compile_program(program())


def test_without_a_compiler_it_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    message = "no HLS C++ can be compiled: g++ is missing: install a C++ compiler, such as Debian's g++"
    with pytest.raises(ToolError, match=f"^{re.escape(message)}$"):
        compile_program(program())


def test_the_name_of_a_function_is_a_name():
    hostile = 'f\n#ifndef K\n#define K\n(); static int q = system("touch ran"); void f\n#endif\n'
    for name in (hostile, "a b", "/a/b", "é", ""):
        with pytest.raises(SimulationError) as caught:
            HlsProgram(name, DOUBLED, STREAMS)
        assert str(caught.value) == (
            f"the C++ of layer {name!r} cannot be compiled: its name is that of a function, so it must be letters, digits "
            "and _\n  give its node such a name"
        )
