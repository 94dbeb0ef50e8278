"""Libraries are judged before they are loaded, tried in a child process, and really unloaded."""

import gc
import hashlib
import logging
import os
import shutil
import signal
import stat
import subprocess
import threading
import time

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from brainsmith import ops
from brainsmith.errors import (
    BundleClashError,
    BundleVersionError,
    LibraryDependencyError,
    LibraryFormatError,
    LibraryPermissionError,
    MissingSymbolError,
    NativeLibraryError,
    OpError,
    PluginCrashError,
)
from brainsmith.native import open_library
from brainsmith.native.checks import check_file
from brainsmith.plugin.registry import REGISTRY
from brainsmith.plugins import list_plugins, load_plugin, unload_plugin
from tests.native.building import build_plugin, compile_c, is_mapped

X = np.array([1, 2, 3], np.float32)


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """A plugin with nothing wrong."""
    return build_plugin(tmp_path_factory.mktemp("good"), name="good.so")


def refused(path, error, **arguments):
    """Return the message with which a file is refused; ops, registry and memory are as before."""
    before = ops.list_custom_ops(), REGISTRY.generation, len(os.listdir("/proc/self/fd"))
    with pytest.raises(error) as caught:
        open_library(path, **arguments)
    assert type(caught.value) is error
    assert (ops.list_custom_ops(), REGISTRY.generation, len(os.listdir("/proc/self/fd"))) == before
    assert not is_mapped("brainsmith-spoilt")
    return str(caught.value)


def test_a_library_says_what_it_is(good):
    library = open_library(good)
    assert (library.name, library.version, library.description, library.author) == (
        "spoilt",
        "1.2.3",
        "for tests",
        "",
    )
    assert (library.min_brainsmith, library.max_brainsmith) == ("", "")
    assert library.path == good
    assert library.sha256 == hashlib.sha256(good.read_bytes()).hexdigest()
    assert [(op.name, op.version, op.bundle, op.num_inputs) for op in library.ops] == [
        ("times", "1.2.3", "spoilt", 1),
        ("plus", "1.2.3", "spoilt", 1),
    ]
    assert [op.has_gradient for op in library.ops] == [True, False]
    assert repr(library) == "<native plugin spoilt 1.2.3, 2 operations>"
    assert library.ops[0].forward(X).tolist() == [2, 4, 6]
    library.close()
    assert repr(library) == "<native plugin spoilt 1.2.3, 2 operations, closed>"


def test_the_versions_of_hosts_that_a_plugin_wants_are_passed_on(tmp_path):
    library = open_library(build_plugin(tmp_path, MIN='"999.0.0"', MAX='"999.1.0"'))
    assert (library.min_brainsmith, library.max_brainsmith) == ("999.0.0", "999.1.0")
    library.close()


class TestBundles:
    """What a library says is judged with the other bundles; one that is refused is unmapped again."""

    def refused(self, path, error):
        before = ops.list_custom_ops(), bundles()
        with pytest.raises(error) as caught:
            load_plugin(path)
        assert (ops.list_custom_ops(), bundles()) == before
        assert not is_mapped(f"brainsmith-{path.name}")
        return str(caught.value)

    def test_one_that_demands_host_999(self, tmp_path):
        assert self.refused(build_plugin(tmp_path, MIN='"999.0.0"'), BundleVersionError) == (
            "bundle 'spoilt v1.2.3' needs brainsmith 999.0.0 or newer, and this is brainsmith 0.1.0: "
            "update brainsmith, or take an older version of the bundle"
        )

    def test_an_op_that_exists(self, tmp_path, good):
        load_plugin(good)
        path = build_plugin(tmp_path, NAME='"other"', SECOND_NAME='"minus"')
        assert self.refused(path, BundleClashError) == (
            "bundle 'other v1.2.3' cannot be registered: the op 'times' exists already:\n"
            f"  spoilt:times at {good}\n  other:times at {path}"
        )
        assert ops.execute_custom_op("times", [X]).tolist() == [2, 4, 6]
        unload_plugin("spoilt")
        assert not is_mapped("brainsmith-good")


def bundles():
    return [info.name for info in list_plugins() if info.type == "bundle"]


class TestFiles:
    def test_missing(self, tmp_path):
        path = tmp_path / "spoilt.so"
        assert (
            refused(path, NativeLibraryError) == f"{path} does not exist: there is no native plugin to load"
        )

    def test_a_folder(self, tmp_path):
        assert refused(tmp_path, NativeLibraryError) == (
            f"{tmp_path} is a folder; a native plugin is one file, such as {tmp_path.name}.so"
        )

    def test_no_regular_file(self, tmp_path):
        path = tmp_path / "spoilt.so"
        os.mkfifo(path)
        assert (
            refused(path, NativeLibraryError)
            == f"{path} is no regular file; a native plugin is a shared library"
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
        assert refused(path, LibraryFormatError) == (
            f"{path} is not a shared library of this system (ELF): it is {what}"
        )

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
        why = "it ends within its header" if length < 20 else "what it says of itself points outside the file"
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

    @pytest.mark.parametrize("strip", [False, True])
    def test_without_the_entry(self, tmp_path, strip):
        """Where the list of sections is gone, the loader finds out."""
        path = build_plugin(tmp_path, "-DNO_ENTRY")
        if strip:
            data = bytearray(path.read_bytes())
            data[40:48], data[58:64] = bytes(8), bytes(6)
            path.write_bytes(data)
        assert refused(path, MissingSymbolError) == (
            f"{path} exports no function 'create_plugin', so it is no native plugin\n"
            '  define it with BS_EXPORT; in C++ within extern "C", in Rust with #[unsafe(no_mangle)] pub extern "C"'
        )

    def test_of_another_content_than_was_meant(self, good):
        found = hashlib.sha256(good.read_bytes()).hexdigest()
        open_library(good, sha256=found.upper()).close()
        meant = "0" * 64
        assert refused(good, NativeLibraryError, sha256=meant) == (
            f"{good} is not the library that was meant: its sha256 is {found}, not {meant}\n"
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


class TestNeeds:
    def test_a_library_that_is_not_there(self, tmp_path):
        source = tmp_path / "other.c"
        source.write_text("int other(void) { return 1; }\n")
        other = compile_c(source, tmp_path / "libother.so", "-Wl,-soname,libother.so.7")
        path = build_plugin(tmp_path, "-Wl,--no-as-needed", str(other))
        other.unlink()
        assert refused(path, LibraryDependencyError) == (
            f"{path} needs the library 'libother.so.7', which is not there\n"
            "  install it, or link with -Wl,-rpath,FOLDER where it lies elsewhere"
        )

    def test_a_symbol_that_nobody_defines(self, tmp_path):
        path = build_plugin(tmp_path, AT_CREATE="extern void nobody(void);nobody()")
        assert refused(path, LibraryDependencyError) == (
            f"{path} needs the symbol 'nobody', which none of the libraries that it names defines\n"
            "  link it with the one that does (-l...)"
        )

    @pytest.mark.parametrize("isolation", [None, "process"])
    @pytest.mark.parametrize("named", [True, False])
    @pytest.mark.parametrize("where", [".", "../lib"])
    def test_a_library_beside_it_is_found(self, tmp_path, isolation, named, where):
        """A copy has nothing beside it; it is given links to what it needs there, which has needs in its turn."""
        path = build_beside(tmp_path, where, named)
        library = open_library(path, isolation=isolation)
        assert library.ops[0].forward(X).tolist() == [5, 10, 15]
        library.close()
        assert not is_mapped(str(tmp_path))
        assert not is_mapped("brainsmith-spoilt")

    def test_such_a_library_is_copied_as_any_other(self, tmp_path):
        """Rebuilt, it is new code beside the old; closing one leaves the other alone."""
        old = open_library(build_beside(tmp_path, ".", True))
        new = open_library(build_beside(tmp_path, ".", True, TIMES=2))
        assert (old.ops[0].forward(X).tolist(), new.ops[0].forward(X).tolist()) == ([5, 10, 15], [10, 20, 30])
        again = open_library(new.path)
        new.close()
        assert (old.ops[0].forward(X).tolist(), again.ops[0].forward(X).tolist()) == (
            [5, 10, 15],
            [10, 20, 30],
        )
        old.close()
        again.close()

    def test_a_worker_that_is_started_again_runs_what_was_opened(self, tmp_path):
        library = open_library(build_beside(tmp_path, ".", True), isolation="process")
        build_beside(tmp_path, ".", True, TIMES=2)
        library._connection.end()
        assert library.ops[0].forward(X).tolist() == [5, 10, 15]
        library.close()


def build_beside(folder, where, named, **parts):
    """Build a plugin that needs a library at a place relative to its own, which needs another beside itself."""
    lies = folder / "plugin" / where
    (folder / "plugin").mkdir(exist_ok=True)
    lies.mkdir(exist_ok=True)
    for name, needs in (("deep", ()), ("beside", ("-ldeep", "-Wl,-rpath,$ORIGIN"))):
        source = folder / f"{name}.c"
        value = "5" if name == "deep" else "deep()"
        source.write_text(f"int deep(void); int {name}(void) {{ return {value}; }}\n")
        soname = [f"-Wl,-soname,lib{name}.so"] if named else []
        compile_c(source, lies / f"new{name}", f"-L{lies}", "-Wl,--no-as-needed", *needs, *soname)
        (lies / f"new{name}").replace(lies / f"lib{name}.so")
    declared = folder / "beside.h"
    declared.write_text("int beside(void);\n")
    flags = [
        "-include",
        declared,
        f"-L{lies}",
        f"-Wl,-rpath,$ORIGIN/{where}",
        "-Wl,--no-as-needed",
        "-lbeside",
    ]
    flags.append(f"-Wl,-rpath-link,{lies}")
    built = build_plugin(folder, *flags, FACTOR=f"{parts.get('TIMES', 1)}*beside()", name="new.so")
    return built.replace(folder / "plugin" / "spoilt.so")


class TestTables:
    @pytest.mark.parametrize("version", [0, 2, 4_000_000_000])
    def test_another_version(self, tmp_path, version):
        path = build_plugin(tmp_path, ABI=f"{version}u")
        assert refused(path, BundleVersionError) == (
            f"{path} is built for version {version} of the native interface; this host has version 1\n"
            "  build it again with this host's brainsmith_plugin.h"
        )

    def test_too_small(self, tmp_path):
        path = build_plugin(tmp_path, TABLE_SIZE=72)
        assert refused(path, NativeLibraryError) == (
            f"{path}: its table is too small: its struct_size is 72, and version 1 has 80 bytes\n"
            "  set struct_size to sizeof(bs_plugin_table)"
        )

    def test_larger_than_this_host_knows(self, tmp_path):
        """A plugin of a later host of the same version has fields at the end that are not read here."""
        open_library(build_plugin(tmp_path, TABLE_SIZE=800, OP_SIZE=960)).close()

    def test_null(self, tmp_path):
        path = build_plugin(tmp_path, TABLE="NULL")
        assert (
            refused(path, NativeLibraryError) == f"{path}: create_plugin returned no table: it gave no reason"
        )

    def test_null_with_a_reason(self, tmp_path):
        path = build_plugin(
            tmp_path,
            TABLE="NULL",
            AT_CREATE='snprintf(host->error,host->error_size,"no_board_of_%s",host->version)',
        )
        assert (
            refused(path, NativeLibraryError) == f"{path}: create_plugin returned no table: no_board_of_0.1.0"
        )

    @pytest.mark.parametrize(
        ("parts", "message"),
        [
            ({"NAME": "NULL"}, "the plugin's name is missing: its pointer is NULL"),
            ({"VERSION": "NULL"}, "plugin 'spoilt' has no version"),
            ({"NUM_OPS": "0"}, "plugin 'spoilt' has no operations; num_ops must be 1 or more"),
            (
                {"OPS": "NULL"},
                "plugin 'spoilt' says that it has 2 operations, but its table does not point to them",
            ),
            ({"FIRST": "NULL"}, "operation 0 of plugin 'spoilt' is missing: its pointer is NULL"),
            ({"OP_NAME": "NULL"}, "operation 0 of plugin 'spoilt': its name is missing: its pointer is NULL"),
            (
                {"FORWARD": "NULL"},
                "operation 0 of plugin 'spoilt', 'times', has no forward: its pointer is NULL",
            ),
        ],
    )
    def test_something_is_missing(self, tmp_path, parts, message):
        path = build_plugin(tmp_path, **parts)
        assert refused(path, MissingSymbolError) == f"{path}: {message}"

    @pytest.mark.parametrize(
        ("parts", "message"),
        [
            ({"NAME": '"a-b"'}, "the plugin's name {rule}, not 'a-b'"),
            ({"NAME": r'"\377"'}, "the plugin's name {rule}, not '\\\\xff'"),
            ({"OP_NAME": '""'}, "operation 0 of plugin 'spoilt': its name {rule}, not ''"),
            ({"OP_NAME": '"7up"'}, "operation 0 of plugin 'spoilt': its name {rule}, not '7up'"),
            ({"VERSION": '"1.0"'}, "version of plugin 'spoilt' must be like '1.0.0', not '1.0'"),
            ({"VERSION": '"01.0.0"'}, "version of plugin 'spoilt' must be like '1.0.0', not '01.0.0'"),
            (
                {"VERSION": f'"1.0.{"1" * 5000}"'},
                f"version of plugin 'spoilt' must be like '1.0.0', not '1.0.{'1' * 56}'... (5004 characters)",
            ),
            ({"MIN": '"new"'}, "min_brainsmith of plugin 'spoilt' must be like '1.0.0', not 'new'"),
            ({"SECOND_NAME": '"times"'}, "plugin 'spoilt' has two operations named 'times'"),
            (
                {"OP_SIZE": "88"},
                "operation 0 of plugin 'spoilt' is too small: its struct_size is 88, and version 1 has 96 bytes\n"
                "  set struct_size to sizeof(bs_op)",
            ),
            ({"NUM_INPUTS": "0"}, "operation 0 of plugin 'spoilt', 'times', must have num_inputs from 1 to 64, not 0"),
            ({"NUM_OUTPUTS": "65"}, "operation 0 of plugin 'spoilt', 'times', must have num_outputs from 1 to 64, not 65"),
            ({"FLAGS": "6"}, "operation 0 of plugin 'spoilt', 'times', has flags that this host does not know: 0x6"),
            (
                {"SKIPPED": "4"},
                "operation 0 of plugin 'spoilt', 'times', has 1 inputs, but not_differentiable names others: 0x4",
            ),
        ],
    )  # fmt: skip
    def test_something_cannot_be(self, tmp_path, parts, message):
        rule = "must be of letters, digits and underscores, without a digit first"
        path = build_plugin(tmp_path, **parts)
        assert refused(path, NativeLibraryError) == f"{path}: {message.format(rule=rule)}"


class TestCrashes:
    """What ends the child process that tries a library does no harm to this one."""

    @pytest.mark.parametrize(
        ("parts", "what"),
        [
            ({"AT_LOAD": "raise(SIGSEGV)"}, "crashed with SIGSEGV when it was loaded"),
            ({"AT_CREATE": "abort()"}, "crashed with SIGABRT in create_plugin"),
            ({"AT_CREATE": "*(volatile/**/int*)8=1"}, "crashed with SIGSEGV in create_plugin"),
            ({"AT_CREATE": "_exit(3)"}, "ended its process with exit code 3 in create_plugin"),
            ({"TABLE": "(void*)8"}, "crashed with SIGSEGV when its table was read"),
            ({"NAME": "(char*)8"}, "crashed with SIGSEGV when its table was read"),
            ({"AT_DESTROY": "raise(SIGILL)"}, "crashed with SIGILL when it was unloaded"),
        ],
    )
    def test_a_crash_is_an_error_that_says_where(self, tmp_path, parts, what):
        path = build_plugin(tmp_path, **parts)
        assert refused(path, PluginCrashError) == (
            f"native plugin {path} {what}; that was in a child process, and it was not loaded here"
        )

    def test_what_it_printed_is_quoted(self, tmp_path):
        path = build_plugin(
            tmp_path, AT_CREATE='fputs("no_licence",stderr),puts("bye"),fflush(stdout),abort()'
        )
        assert refused(path, PluginCrashError) == (
            f"native plugin {path} crashed with SIGABRT in create_plugin; "
            "that was in a child process, and it was not loaded here\n  it printed: no_licencebye"
        )

    def test_an_endless_loop_ends_with_the_time_limit(self, tmp_path):
        path = build_plugin(tmp_path, AT_CREATE="for(volatile/**/int/**/i=0;;)i++")
        assert refused(path, PluginCrashError, time_limit=0.5) == (
            f"native plugin {path} did not end within 0.5 seconds in create_plugin; "
            "that was in a child process, and it was not loaded here"
        )

    @pytest.mark.parametrize("delay", [0, 0.1])
    def test_an_interrupted_trial_ends_its_process(self, tmp_path, delay):
        path = build_plugin(tmp_path, AT_CREATE="for(volatile/**/int/**/i=0;;)i++")

        def interrupt(number, frame):
            raise KeyboardInterrupt

        def interrupt_when_it_runs():
            while children() == others:
                time.sleep(0.001)
            time.sleep(delay)
            os.kill(os.getpid(), signal.SIGALRM)

        others, before = children(), signal.signal(signal.SIGALRM, interrupt)
        try:
            thread = threading.Thread(target=interrupt_when_it_runs)
            thread.start()
            refused(path, KeyboardInterrupt, time_limit=30)
            thread.join()
        finally:
            signal.signal(signal.SIGALRM, before)
        assert children() == others


def children():
    """Return the processes that this one has started, in whichever thread."""
    found = []
    for task in os.listdir("/proc/self/task"):
        try:
            with open(f"/proc/self/task/{task}/children", encoding="utf-8") as file:
                found += file.read().split()
        except (FileNotFoundError, ProcessLookupError):  # it has ended meanwhile
            pass
    return sorted(found)


def wait_for_call(library):
    """Wait until a thread is in the midst of a call."""
    until = time.monotonic() + 10
    while not library._calls():
        assert time.monotonic() < until
        time.sleep(0.001)


class TestUnloading:
    def test_it_is_unmapped_and_its_ops_say_so(self, good):
        library = open_library(good)
        (op, _), mapped = library.ops, is_mapped("brainsmith-good.so")
        library.close()
        library.close()
        assert (mapped, is_mapped("brainsmith-good.so")) == (True, False)
        gone = f"Operation 'times' is gone: native plugin spoilt 1.2.3 ({good}) was unloaded"
        for use in (
            lambda: op.forward(X),
            lambda: op.backward(X, [X], X),
            lambda: op.validate_inputs([X]),
            lambda: op.output_shape([(3,)]),
            lambda: op.forward_into([X], [X.copy()]),
        ):
            with pytest.raises(OpError) as caught:
                use()
            assert str(caught.value) == gone

    def test_pitfall_33_an_op_alone_keeps_the_library(self, good):
        """The code of an op must not be unmapped while it can be called."""
        op = open_library(good).ops[0]
        gc.collect()
        assert op.forward(X).tolist() == [2, 4, 6]
        assert is_mapped("brainsmith-good.so")
        del op
        gc.collect()
        assert not is_mapped("brainsmith-good.so")

    def test_a_running_call_is_waited_for(self, tmp_path):
        library = open_library(build_plugin(tmp_path, FORWARD="sleeps"))
        results = []
        thread = threading.Thread(target=lambda: results.append(library.ops[0].forward(X).tolist()))
        thread.start()
        wait_for_call(library)
        library.close()
        thread.join()
        assert results == [[2, 4, 6]]
        assert not is_mapped("brainsmith-spoilt.so")

    def test_a_call_that_does_not_end_keeps_it_loaded(self, tmp_path):
        library = open_library(build_plugin(tmp_path, FORWARD="sleeps"))
        thread = threading.Thread(target=library.ops[0].forward, args=(X,))
        thread.start()
        wait_for_call(library)
        with pytest.raises(NativeLibraryError) as caught:
            library.close(time_limit=0.01)
        assert str(caught.value) == (
            "native plugin 'spoilt' cannot be unloaded: 1 of its calls did not end within 0.01 seconds"
        )
        thread.join()
        assert library.ops[0].forward(X).tolist() == [2, 4, 6]
        library.close()

    def test_a_finaliser_that_the_collector_runs_after_unloading_is_told(self, good):
        """What is found with a library in a cycle is finalised after the library was unmapped."""
        said = []

        class Holder:
            def __del__(self):
                try:
                    self.op.forward(X)
                except OpError as error:
                    said.append(str(error))

        holder = Holder()
        holder.op, holder.itself = open_library(good).ops[0], holder
        del holder
        gc.collect()
        assert said == [f"Operation 'times' is gone: native plugin spoilt 1.2.3 ({good}) was unloaded"]
        assert not is_mapped("brainsmith-good.so")

    def test_a_forked_child_does_not_wait_for_its_parents_threads(self, tmp_path):
        library = open_library(build_plugin(tmp_path, FORWARD="sleeps"))
        thread = threading.Thread(target=library.ops[0].forward, args=(X,))
        thread.start()
        wait_for_call(library)
        child = os.fork()
        if not child:
            try:
                library.close(0.05)
                os._exit(0 if library.closed and not is_mapped("brainsmith-spoilt.so") else 3)
            finally:
                os._exit(4)
        assert os.waitpid(child, 0)[1] == 0
        thread.join()
        assert not library.closed
        library.close()

    def test_several_threads_may_close_it(self, tmp_path):
        library = open_library(build_plugin(tmp_path, FORWARD="sleeps", AT_DESTROY="usleep(1000)"))
        calling = threading.Thread(target=library.ops[0].forward, args=(X,))
        closing = [threading.Thread(target=library.close) for _ in range(8)]
        calling.start()
        wait_for_call(library)
        for thread in closing:
            thread.start()
        for thread in (calling, *closing):
            thread.join()
        assert library.closed
        assert not is_mapped("brainsmith-spoilt.so")

    def test_destroy_is_called_once(self, tmp_path, capfd):
        library = open_library(build_plugin(tmp_path, AT_DESTROY='fputs("swept\\n",stderr)'))
        assert capfd.readouterr().err == ""
        library.close()
        library.close()
        assert capfd.readouterr().err == "swept\n"

    def test_a_rebuilt_library_is_new_code_beside_the_old(self, tmp_path):
        """The file may even be overwritten in place: what is loaded is a copy."""
        path = build_plugin(tmp_path, FACTOR=3)
        old = open_library(path)
        build_plugin(tmp_path, name="new.so", FACTOR=4)
        with path.open("r+b") as file:
            file.write((tmp_path / "new.so").read_bytes())
        new = open_library(path)
        assert (old.ops[0].forward(X).tolist(), new.ops[0].forward(X).tolist()) == ([3, 6, 9], [4, 8, 12])
        old.close()
        assert new.ops[0].forward(X).tolist() == [4, 8, 12]
        again = open_library(path)
        new.close()
        assert again.ops[0].forward(X).tolist() == [4, 8, 12]
        again.close()
        assert not is_mapped("brainsmith-spoilt.so")

    def test_one_that_must_stay_mapped_is_never_taken_for_a_later_one(self, tmp_path):
        kept = open_library(build_plugin(tmp_path, "-Wl,-z,nodelete", FACTOR=3))
        kept.close()
        assert is_mapped("brainsmith-spoilt.so")
        later = open_library(build_plugin(tmp_path, name="later.so", FACTOR=7))
        assert later.ops[0].forward(X).tolist() == [7, 14, 21]
        later.close()

    def test_each_step_is_logged(self, good, caplog):
        with caplog.at_level(logging.DEBUG, "brainsmith.plugin"):
            open_library(good).close()
        digest = hashlib.sha256(good.read_bytes()).hexdigest()
        assert [record.getMessage() for record in caplog.records] == [
            f"{good}: a library of this machine, sha256 {digest}",
            f"{good}: loaded and unloaded in a child process",
            f"{good}: plugin spoilt 1.2.3 with 2 operations",
            f"{good}: unmapped",
        ]


def test_eight_threads_run_while_another_loads_and_unloads(good):
    """A call gives the right result or says that the op is gone, whatever happens meanwhile."""
    current, wrong, counts = [open_library(good)], [], [0] * 8
    stop = threading.Event()

    def run(number):
        x = np.full(1000, number + 1, np.float32)
        while not stop.is_set():
            try:
                y = current[0].ops[0].forward(x)
                counts[number] += 1
                if not (y == 2 * (number + 1)).all():
                    wrong.append(y)
            except OpError as error:
                if "is gone" not in str(error):
                    wrong.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for _ in range(5):
        old, current[0] = current[0], open_library(good)
        old.close()
    stop.set()
    for thread in threads:
        thread.join()
    current[0].close()
    assert wrong == []
    assert min(counts) > 0
    assert not is_mapped("brainsmith-good.so")
