"""Files that are no native plugin: each is told what it is."""

import _ctypes
import hashlib
import os
import shutil
import stat
import subprocess

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from brainsmith.errors import (
    LibraryFormatError,
    LibraryPermissionError,
    MissingSymbolError,
    NativeLibraryError,
)
from brainsmith.native import open_library
from brainsmith.native.library_checks import check_file
from tests.native.building import build_plugin
from tests.native.opening import refused


class TestFiles:
    def test_missing(self, tmp_path):
        path = tmp_path / "spoilt.so"
        assert (
            refused(path, NativeLibraryError) == f"{path} does not exist: there is no native plugin to load"
        )

    def test_a_folder(self, tmp_path):
        assert refused(tmp_path, NativeLibraryError) == (
            f"{tmp_path} is a folder; a native plugin is a file, such as {tmp_path.name}.so"
        )

    def test_no_regular_file(self, tmp_path):
        path = tmp_path / "spoilt.so"
        os.mkfifo(path)
        assert (
            refused(path, NativeLibraryError)
            == f"{path} is not a regular file; a native plugin is a shared library"
        )

    def test_not_readable(self, tmp_path, good):
        path = tmp_path / "spoilt.so"
        shutil.copy(good, path)
        path.chmod(stat.S_IWUSR)
        assert refused(path, LibraryPermissionError) == (
            f"{path} may not be read: Permission denied\n  give the right to read it: chmod u+r {path}"
        )

    @pytest.mark.parametrize(
        ("content", "what"),
        [
            (b"", "an empty file"),
            (b"MZ\x90\0", "a Windows DLL or program"),
            (b"\xcf\xfa\xed\xfe\7\0", "a macOS library or program"),
            (b"\xca\xfe\xba\xbe\0\0", "a macOS library for several machines"),
            (b"!<arch>\nx", "a static library"),
            (b"PK\x03\x04", "a zip archive"),
            (b"#!/bin/sh\n", "a script"),
            (b"import numpy\n", "a text file"),
            (b"\x93NUMPY\1\0" + bytes(100), "binary data of another kind"),
        ],
    )
    def test_no_library_at_all(self, tmp_path, content, what):
        path = tmp_path / "spoilt.so"
        path.write_bytes(content)
        assert refused(path, LibraryFormatError) == (f"{path} is not an ELF shared library: it is {what}")

    @pytest.mark.parametrize(
        ("at", "value", "what"),
        [(18, 183, "64-bit ARM (aarch64), 64-bit"), (18, 243, "RISC-V, 64-bit"), (4, 1, "x86-64, 32-bit")],
    )
    def test_of_another_platform(self, tmp_path, good, at, value, what):
        path, data = tmp_path / "spoilt.so", bytearray(good.read_bytes())
        if data[18] != 62:
            pytest.skip("needs an x86-64 machine")
        data[at] = value
        path.write_bytes(data)
        assert refused(path, LibraryFormatError) == (
            f"{path} is built for another platform: {what}; this process runs on x86-64, 64-bit\n  build it for this one"
        )

    @pytest.mark.parametrize("length", [10, 40, 63])
    def test_cut_off_in_its_header(self, tmp_path, good, length):
        path = tmp_path / "spoilt.so"
        path.write_bytes(good.read_bytes()[:length])
        why = "it ends within its header" if length < 20 else "its headers point outside the file"
        assert refused(path, LibraryFormatError) == f"{path} is damaged: {why}"

    def test_cut_off_later(self, tmp_path, good):
        path, data = tmp_path / "spoilt.so", good.read_bytes()
        path.write_bytes(data[:5000])
        assert refused(path, LibraryFormatError).startswith(
            f"{path} is damaged: it is cut off: 5,000 bytes of at least "
        )
        path.write_bytes(data[:-1])
        assert refused(path, LibraryFormatError) == (
            f"{path} is damaged: it is cut off: {len(data) - 1:,} bytes of at least {len(data):,}"
        )

    def test_not_linked(self, tmp_path):
        path = tmp_path / "spoilt.so"
        source = tmp_path / "empty.c"
        source.write_text("int answer = 42;\n")
        subprocess.run(["cc", "-c", str(source), "-o", str(path)], check=True)
        assert refused(path, LibraryFormatError) == (
            f"{path} must be a shared library, not an object file, not linked yet\n"
            "  link it with -shared -fPIC (C, C++), or as crate-type cdylib (Rust)"
        )

    @pytest.mark.parametrize("flag", ["-no-pie", "-pie"])
    def test_a_program(self, tmp_path, flag):
        path = tmp_path / "spoilt.so"
        source = tmp_path / "main.c"
        source.write_text("int main(void) { return 0; }\n")
        subprocess.run(["cc", "-fPIC", flag, str(source), "-o", str(path)], check=True)
        assert refused(path, LibraryFormatError) == (
            f"{path} must be a shared library, not a program\n"
            "  link it with -shared -fPIC (C, C++), or as crate-type cdylib (Rust)"
        )

    def test_of_another_kind(self, tmp_path):
        path = tmp_path / "spoilt.so"
        shutil.copy(_ctypes.__file__, path)
        assert refused(path, MissingSymbolError) == (
            f"{path} exports no function 'create_plugin', so it is not a native plugin\n"
            '  define it with BS_EXPORT; in C++ within extern "C", in Rust with #[unsafe(no_mangle)] pub extern "C"'
        )

    @pytest.mark.parametrize("strip", [False, True])
    @pytest.mark.slow
    def test_without_the_entry(self, tmp_path, strip):
        """Where the list of sections is gone, the loader finds out."""
        path = build_plugin(tmp_path, "-DNO_ENTRY")
        if strip:
            data = bytearray(path.read_bytes())
            data[40:48], data[58:64] = bytes(8), bytes(6)
            path.write_bytes(data)
        assert refused(path, MissingSymbolError) == (
            f"{path} exports no function 'create_plugin', so it is not a native plugin\n"
            '  define it with BS_EXPORT; in C++ within extern "C", in Rust with #[unsafe(no_mangle)] pub extern "C"'
        )

    def test_of_another_content_than_was_meant(self, good):
        found = hashlib.sha256(good.read_bytes()).hexdigest()
        open_library(good, sha256=found.upper()).close()
        meant = "0" * 64
        assert refused(good, NativeLibraryError, sha256=meant) == (
            f"{good} is not the expected library: its sha256 is {found}, not {meant}\n"
            "  if it was rebuilt on purpose, write the new sha256 into plugin.json"
        )

    @pytest.mark.parametrize("isolation", [None, "process"])
    @pytest.mark.parametrize("limit", [0, -1, float("nan"), "3", None, True])
    def test_a_time_limit_that_is_none(self, good, limit, isolation):
        assert refused(good, NativeLibraryError, time_limit=limit, isolation=isolation) == (
            f"time_limit must be a number of seconds above 0, not {limit!r}"
        )

    @pytest.mark.parametrize(
        "limit", [np.float32(9), 10**400, float("inf")], ids=["numpy", "huge", "infinite"]
    )
    def test_time_limits_of_all_kinds(self, good, limit):
        open_library(good, time_limit=limit).close()

    def test_names_may_be_long_in_any_letters(self, tmp_path, good):
        path = tmp_path / f"{'名' * 80}.so"
        shutil.copy(good, path)
        open_library(path).close()

    def test_an_isolation_that_is_none(self, good):
        assert refused(good, NativeLibraryError, isolation="thread") == (
            "isolation must be 'process' or None, not 'thread'"
        )


@settings(deadline=None, max_examples=300)
@example(changes=[(0.26610611257894906, 1)], keep=1.0)
@example(changes=[(0.5, 128)], keep=1.0)
@example(changes=[(0.21958375216083487, 128)], keep=1.0)
@given(changes=st.lists(st.tuples(st.floats(0, 1), st.integers(0, 255)), max_size=6), keep=st.floats(0, 1))
def test_a_damaged_file_is_judged_and_never_an_accident(good, changes, keep):
    """Damage at the front, where the headers are, at the end, where the sections are, or a file cut off."""
    data = bytearray(good.read_bytes())
    for where, value in changes:
        data[int(where**4 * (len(data) - 1))] = value
        data[-1 - int(where * 2000)] = value
    try:
        check_file(good, bytes(data[: max(4, int(keep * 2 * len(data)))]))
    except NativeLibraryError as error:
        assert str(good) in str(error)
