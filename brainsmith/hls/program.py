"""A function in HLS C++ as a library that takes and gives the beats of its streams."""

from __future__ import annotations

import ctypes
import json
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from brainsmith.errors import SimulationError
from brainsmith.figures import plural
from brainsmith.hls.headers import find_hls_compiler
from brainsmith.rtl.simulation.toolchain import run_compiler
from brainsmith.settings import cache_dir
from brainsmith.store.files import write_texts
from brainsmith.store.fingerprint import digest, digest_of_parts
from brainsmith.store.folders import KeptFolders

if TYPE_CHECKING:
    from collections.abc import Mapping

    from brainsmith.rtl.simulation.beats import Words

FLAGS = (
    "-std=c++14", "-O1", "-fPIC", "-shared", "-fno-gnu-unique", "-Wall", "-Wextra", "-Wno-unknown-pragmas",
)  # fmt: skip
"""The language is that of FINN's scripts for Vitis HLS. Static tables of one name in several libraries are several."""

BYTE = 8

HARNESS = Path(__file__).with_name("harness.hpp")
"""What feeds and empties streams."""

_RUN = (
    'extern "C" void brainsmith_run(\n'
    "    unsigned char **bytes, const unsigned long long *beats, long long *missing, unsigned long long calls) {\n"
)


@dataclass(frozen=True)
class HlsStream:
    """One stream of a function: `hls::stream<ap_uint<bits>> &name`.

    Attributes:
        name: Of the parameter.
        bits: Of a beat.
        fed: Whether it is an input.
    """

    name: str
    bits: int
    fed: bool


@dataclass(frozen=True)
class HlsProgram:
    """A function that a synthesis would make a layer of.

    Attributes:
        top: The function; its parameters are the streams, in their order.
        source: C++ in which it is defined.
        streams: Its parameters.
        headers: Texts of the files that the source includes, by name; those of ap_int and hls_stream are there.
    """

    top: str
    source: str
    streams: tuple[HlsStream, ...]
    headers: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse a function whose name would be more than a name in C++.

        Raises:
            SimulationError: It is no identifier.
        """
        if not (self.top.isascii() and self.top.isidentifier()):
            raise SimulationError(
                f"the C++ of layer {self.top!r} cannot be compiled: its name is that of a function, so it must be "
                "letters, digits and _\n  give its node such a name"
            )

    @property
    def unit(self) -> str:
        """The translation unit that is compiled: the source, and a function that feeds and empties its streams."""
        names = ", ".join(stream.name for stream in self.streams)
        made = [f'hls::stream<ap_uint<{one.bits}>> {one.name}("{one.name}");' for one in self.streams]
        fed = [
            f"brainsmith_feed({one.name}, bytes[{at}], beats[{at}]);"
            for at, one in enumerate(self.streams)
            if one.fed
        ]
        drained = [
            f"missing[{at}] = brainsmith_drain({one.name}, bytes[{at}], {'0' if one.fed else f'beats[{at}]'});"
            for at, one in enumerate(self.streams)
        ]
        called = f"for (; calls; calls--) {self.top}({names});"
        body = "".join(f"    {line}\n" for line in (*made, *fed, called, *drained))
        harness = HARNESS.read_text("utf-8")
        return f'#include "ap_int.h"\n#include "hls_stream.h"\n{self.source}\n\n{harness}\n{_RUN}{body}}}\n'


def compile_program(program: HlsProgram) -> Path:
    """Return the library of a program, which is compiled once per content.

    Args:
        program: What is compiled.

    Raises:
        ToolError: The compiler or the headers are missing.
        SimulationError: The compiler rejects the program.
    """
    compiler, headers = find_hls_compiler()
    content = [
        program.unit,
        sorted(program.headers.items()),
        FLAGS,
        compiler.version,
        _headers_digest(headers),
    ]
    key = digest(json.dumps(content))

    def make(work: Path) -> None:
        write_texts(work, {**program.headers, "unit.cpp": program.unit})
        command = [
            compiler.path, *FLAGS, f"-I{work}", f"-isystem{headers}", str(work / "unit.cpp"),
            "-o", str(work / "program.so"),
        ]  # fmt: skip
        run_compiler(command, f"compiling {program.top}")

    store = KeptFolders(Path(cache_dir()) / "hls", holds_code=True)
    return store.obtain(key, make, {"of": f"function {program.top}"}) / "program.so"


def run_program(
    program: HlsProgram, inputs: Mapping[str, Words], outputs: Mapping[str, int], calls: int = 1
) -> dict[str, Words]:
    """Call a program's function, and return the beats that it gives.

    Args:
        program: What is called.
        inputs: One row of bytes per beat by input stream (`brainsmith.rtl.simulation.beats.pack`).
        outputs: How many beats each output stream gives in all.
        calls: How often the function is called; all beats are there from the start.

    Raises:
        SimulationError: It does not take all beats, or gives another number than was asked for.
    """
    library = ctypes.CDLL(str(compile_program(program)))
    rows = [
        np.ascontiguousarray(inputs[one.name])
        if one.fed
        else np.zeros((outputs[one.name], -(-one.bits // BYTE)), np.uint8)
        for one in program.streams
    ]
    for one, words in zip(program.streams, rows, strict=True):
        if words.dtype != np.uint8 or words.shape[1:] != (-(-one.bits // BYTE),):
            raise ValueError(
                f"{one.name}: beats of {plural(one.bits, 'bit')} are rows of {plural(-(-one.bits // BYTE), 'byte')}"
            )
    count = len(rows)
    pointers = (ctypes.c_void_p * count)(*(words.ctypes.data for words in rows))
    beats = (ctypes.c_ulonglong * count)(*(len(words) for words in rows))
    missing = (ctypes.c_longlong * count)()
    library.brainsmith_run(pointers, beats, missing, ctypes.c_ulonglong(calls))
    wrong = [
        f"{one.name} {f'lacks {number}' if number > 0 else f'has {-number} left'} of {len(words)} beats"
        for one, words, number in zip(program.streams, rows, missing, strict=True)
        if number
    ]
    if wrong:
        raise SimulationError(f"{program.top}: {', '.join(wrong)} after {plural(calls, 'call')}")
    return {one.name: words for one, words in zip(program.streams, rows, strict=True) if not one.fed}


@lru_cache(maxsize=4)
def _headers_digest(folder: Path) -> str:
    return digest_of_parts(path.read_bytes() for path in sorted(folder.glob("*.h")))
