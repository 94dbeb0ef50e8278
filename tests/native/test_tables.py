"""Tables that a host cannot read."""

from pathlib import Path

import pytest

from brainsmith.errors import (
    BundleVersionError,
    MissingSymbolError,
    NativeLibraryError,
)
from brainsmith.native import open_library
from brainsmith.native.library_checks import check_table
from tests.native.building import build_plugin
from tests.native.opening import refused

RULE = "must be of letters, digits and underscores, without a digit first"
TEXTS = {"name": "spoilt", "version": "1.2.3", "min_brainsmith": None, "max_brainsmith": None}
OP = {
    "struct_size": 96, "flags": 0, "name": "times", "num_inputs": 1, "num_outputs": 1, "not_differentiable": 0,
    "forward": 1,
}  # fmt: skip
MISSING = [
    ({"NAME": "NULL"}, ("name",), None, "the plugin's name is missing: its pointer is NULL"),
    ({"VERSION": "NULL"}, ("version",), None, "plugin 'spoilt' has no version"),
    ({"NUM_OPS": "0"}, ("num_ops",), 0, "plugin 'spoilt' has no operations; num_ops must be 1 or more"),
    (
        {"OPS": "NULL"}, ("ops",), [],
        "plugin 'spoilt' states 2 operations, but has no pointer to them",
    ),
    ({"FIRST": "NULL"}, ("ops",), [None], "operation 0 of plugin 'spoilt' is missing: its pointer is NULL"),
    (
        {"OP_NAME": "NULL"}, (0, "name"), None,
        "operation 0 of plugin 'spoilt': its name is missing: its pointer is NULL",
    ),
    (
        {"FORWARD": "NULL"}, (0, "forward"), 0,
        "operation 0 of plugin 'spoilt', 'times', has no forward: its pointer is NULL",
    ),
]  # fmt: skip
"""What a plugin is compiled with, what is read of it where, and the message."""
INVALID = [
    ({"NAME": '"a-b"'}, ("name",), "a-b", f"the plugin's name {RULE}, not 'a-b'"),
    ({"NAME": r'"\377"'}, ("name",), r"\xff", f"the plugin's name {RULE}, not '\\\\xff'"),
    ({"OP_NAME": '""'}, (0, "name"), "", f"operation 0 of plugin 'spoilt': its name {RULE}, not ''"),
    ({"OP_NAME": '"7up"'}, (0, "name"), "7up", f"operation 0 of plugin 'spoilt': its name {RULE}, not '7up'"),
    ({"VERSION": '"1.0"'}, ("version",), "1.0", "version of plugin 'spoilt' must be like '1.0.0', not '1.0'"),
    ({"VERSION": '"01.0.0"'}, ("version",), "01.0.0", "version of plugin 'spoilt' must be like '1.0.0', not '01.0.0'"),
    (
        {"VERSION": f'"1.0.{"1" * 5000}"'}, ("version",), f"1.0.{'1' * 5000}",
        f"version of plugin 'spoilt' must be like '1.0.0', not '1.0.{'1' * 56}'... (5004 characters)",
    ),
    ({"MIN": '"new"'}, ("min_brainsmith",), "new", "min_brainsmith of plugin 'spoilt' must be like '1.0.0', not 'new'"),
    ({"SECOND_NAME": '"times"'}, (1, "name"), "times", "plugin 'spoilt' has two operations named 'times'"),
    (
        {"OP_SIZE": "88"}, (0, "struct_size"), 88,
        "operation 0 of plugin 'spoilt' is too small: its struct_size is 88, and version 1 has 96 bytes\n"
        "  set struct_size to sizeof(bs_op)",
    ),
    (
        {"NUM_INPUTS": "0"}, (0, "num_inputs"), 0,
        "operation 0 of plugin 'spoilt', 'times', must have num_inputs from 1 to 64, not 0",
    ),
    (
        {"NUM_OUTPUTS": "65"}, (0, "num_outputs"), 65,
        "operation 0 of plugin 'spoilt', 'times', must have num_outputs from 1 to 64, not 65",
    ),
    (
        {"FLAGS": "6"}, (0, "flags"), 6,
        "operation 0 of plugin 'spoilt', 'times', has flags that this host does not know: 0x6",
    ),
    (
        {"SKIPPED": "4"}, (0, "not_differentiable"), 4,
        "operation 0 of plugin 'spoilt', 'times', has 1 input, but not_differentiable names others: 0x4",
    ),
]  # fmt: skip


class TestTables:
    @pytest.mark.parametrize("version", [0, 2])
    def test_what_is_read_of_another_version(self, version):
        with pytest.raises(BundleVersionError) as caught:
            check_table(Path("a.so"), {"abi_version": version})
        assert str(caught.value) == (
            f"a.so is built for version {version} of the native interface; this host has version 1\n"
            "  build it again with this host's brainsmith_plugin.h"
        )

    @pytest.mark.parametrize("version", [0, 2, 4_000_000_000])
    @pytest.mark.slow
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

    @pytest.mark.slow
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

    @pytest.mark.slow
    @pytest.mark.parametrize(("parts", "message"), [(parts, message) for parts, _, _, message in MISSING])
    def test_something_is_missing(self, tmp_path, parts, message):
        path = build_plugin(tmp_path, **parts)
        assert refused(path, MissingSymbolError) == f"{path}: {message}"

    @pytest.mark.slow
    @pytest.mark.parametrize(("parts", "message"), [(parts, message) for parts, _, _, message in INVALID])
    def test_something_cannot_be(self, tmp_path, parts, message):
        path = build_plugin(tmp_path, **parts)
        assert refused(path, NativeLibraryError) == f"{path}: {message}"

    @pytest.mark.parametrize("case", [*MISSING, *INVALID], ids=lambda case: str(case[0])[:50])
    def test_what_is_read_of_a_spoilt_one(self, case):
        """As the child process that reads it passes it on."""
        _, (*inner, last), value, message = case
        table = {
            "abi_version": 1,
            "struct_size": 80,
            **TEXTS,
            "num_ops": 2,
            "ops": [{**OP}, {**OP, "name": "plus"}],
        }
        place = table["ops"][inner[0]] if inner else table
        place[last] = value
        with pytest.raises(MissingSymbolError if case in MISSING else NativeLibraryError) as caught:
            check_table(Path("a.so"), table)
        assert str(caught.value) == f"a.so: {message}"
