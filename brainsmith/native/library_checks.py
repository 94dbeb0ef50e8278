"""Judge a library before it is loaded, and the table that it gives: each thing that can be wrong, in words."""

from __future__ import annotations

import ctypes
import hashlib
import math
import re
from functools import lru_cache
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from brainsmith.errors import (
    BundleVersionError,
    LibraryFormatError,
    LibraryPermissionError,
    MissingSymbolError,
    NativeLibraryError,
)
from brainsmith.figures import plural
from brainsmith.native import abi
from brainsmith.native.elf import DamagedError, Elf, name_content, read_elf, read_header

if TYPE_CHECKING:
    from collections.abc import Mapping

ENTRY = "create_plugin"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_VERSION = re.compile(r"(?:(?:0|[1-9][0-9]{0,8})(?:\.(?!$)|$)){3}")
"""Three numbers without zeros in front, of nine digits at most."""

_SHOWN = 60
"""Characters of a wrong version that a message quotes."""


def read_library(path: Path) -> bytes:
    """Return a library's bytes.

    Raises:
        NativeLibraryError: There is no such file, or it is not a file.
        LibraryPermissionError: It may not be read.
    """
    try:
        if path.is_dir():
            raise NativeLibraryError(f"{path} is a folder; a native plugin is a file, such as {path.name}.so")
        if path.exists() and not path.is_file():
            raise NativeLibraryError(f"{path} is not a regular file; a native plugin is a shared library")
        # Root may read what nobody may; a file without any right to be read is not meant to be loaded.
        if path.exists() and not path.stat().st_mode & 0o444:
            raise PermissionError(13, "Permission denied")
        return path.read_bytes()
    except FileNotFoundError as error:
        raise NativeLibraryError(f"{path} does not exist: there is no native plugin to load") from error
    except PermissionError as error:
        raise LibraryPermissionError(
            f"{path} may not be read: {error.strerror}\n  give the right to read it: chmod u+r {path}"
        ) from error
    except OSError as error:
        raise NativeLibraryError(f"{path} cannot be read: {error.strerror}") from error


def check_time_limit(value: Any) -> float:
    """Return a time limit in seconds; infinity is one.

    Raises:
        NativeLibraryError: It is no number above 0.
    """
    try:
        seconds = 0.0 if isinstance(value, bool) or not isinstance(value, Real) else float(value)
    except OverflowError:  # an integer beyond all numbers of this kind
        seconds = math.inf if cast("int", value) > 0 else 0.0
    if not seconds > 0:
        raise NativeLibraryError(f"time_limit must be a number of seconds above 0, not {value!r}")
    return seconds


def check_hash(path: Path, data: bytes, expected: str | None) -> str:
    """Return the SHA-256 of a library, in hexadecimal digits.

    Raises:
        NativeLibraryError: It is not the expected one.
    """
    found = hashlib.sha256(data).hexdigest()
    if expected is not None and found != expected.lower():
        raise NativeLibraryError(
            f"{path} is not the expected library: its sha256 is {found}, not {expected}\n"
            "  if it was rebuilt on purpose, write the new sha256 into plugin.json"
        )
    return found


def check_file(path: Path, data: bytes) -> Elf:
    """Return what a library states about itself, which this process can load.

    Raises:
        LibraryFormatError: It is no shared library of this machine.
        MissingSymbolError: It does not export `create_plugin`.
    """
    if not data.startswith(b"\x7fELF"):
        raise LibraryFormatError(f"{path} is not an ELF shared library: it is {name_content(data)}")
    try:
        header, own = read_header(data), _own_header()
        if (header.bits, header.little, header.machine) != (own.bits, own.little, own.machine):
            raise LibraryFormatError(
                f"{path} is built for another platform: {header.machine_name}, {header.bits}-bit; "
                f"this process runs on {own.machine_name}, {own.bits}-bit\n  build it for this one"
            )
        elf = read_elf(data)
    except DamagedError as error:
        raise LibraryFormatError(f"{path} is damaged: {error}") from error
    if elf.kind:
        raise LibraryFormatError(
            f"{path} must be a shared library, not {elf.kind}\n"
            "  link it with -shared -fPIC (C, C++), or as crate-type cdylib (Rust)"
        )
    if elf.exports is not None and ENTRY not in elf.exports:
        raise no_entry(path)
    return elf


def no_entry(path: Path) -> MissingSymbolError:
    """Return the error for a library without `create_plugin`."""
    return MissingSymbolError(
        f"{path} exports no function {ENTRY!r}, so it is not a native plugin\n"
        '  define it with BS_EXPORT; in C++ within extern "C", in Rust with #[unsafe(no_mangle)] pub extern "C"'
    )


@lru_cache(maxsize=1)
def _own_header() -> Elf:
    with Path("/proc/self/exe").open("rb") as file:
        start = file.read(64)
    return read_header(start)


def check_table(path: Path, table: Mapping[str, Any]) -> None:
    """Hold a table (`plugin_table.describe`) to the rules of the header.

    Raises:
        BundleVersionError: It is of another version of the interface.
        MissingSymbolError: Something that it must have is missing.
        NativeLibraryError: Something in it is invalid.
    """
    if table["abi_version"] != abi.ABI_VERSION:
        raise BundleVersionError(
            f"{path} is built for version {table['abi_version']} of the native interface; "
            f"this host has version {abi.ABI_VERSION}\n  build it again with this host's brainsmith_plugin.h"
        )
    _check_size(f"{path}: its table", table, abi.PluginTable, "sizeof(bs_plugin_table)")
    _check_texts(path, table)
    if not table["num_ops"]:
        raise MissingSymbolError(
            f"{path}: plugin {table['name']!r} has no operations; num_ops must be 1 or more"
        )
    if not table["ops"]:
        raise MissingSymbolError(
            f"{path}: plugin {table['name']!r} states {plural(table['num_ops'], 'operation')}, "
            "but has no pointer to them"
        )
    seen: set[str] = set()
    for at, op in enumerate(table["ops"]):
        name = _check_op(f"{path}: operation {at} of plugin {table['name']!r}", op)
        if name in seen:
            raise NativeLibraryError(f"{path}: plugin {table['name']!r} has two operations named {name!r}")
        seen.add(name)


def _check_size(what: str, table: Mapping[str, Any], structure: type[ctypes.Structure], written: str) -> None:
    needed = ctypes.sizeof(structure)
    if table["struct_size"] < needed:
        raise NativeLibraryError(
            f"{what} is too small: its struct_size is {table['struct_size']}, and version {abi.ABI_VERSION} has "
            f"{needed} bytes\n  set struct_size to {written}"
        )


def _check_texts(path: Path, table: Mapping[str, Any]) -> None:
    _check_name(f"{path}: the plugin's name", table["name"])
    for field in ("version", "min_brainsmith", "max_brainsmith"):
        text = table[field]
        if text is None and field == "version":
            raise MissingSymbolError(f"{path}: plugin {table['name']!r} has no version")
        if text is not None and not _VERSION.fullmatch(text):
            raise NativeLibraryError(
                f"{path}: {field} of plugin {table['name']!r} must be like '1.0.0', not {_quoted(text)}"
            )


def _quoted(text: str) -> str:
    return repr(text) if len(text) <= _SHOWN else f"{text[:_SHOWN]!r}... ({len(text)} characters)"


def _check_name(what: str, name: str | None) -> None:
    if name is None:
        raise MissingSymbolError(f"{what} is missing: its pointer is NULL")
    if not _NAME.fullmatch(name):
        raise NativeLibraryError(
            f"{what} must be of letters, digits and underscores, without a digit first, not {name!r}"
        )


def _check_op(what: str, op: Mapping[str, Any] | None) -> str:
    if op is None:
        raise MissingSymbolError(f"{what} is missing: its pointer is NULL")
    _check_size(what, op, abi.OpTable, "sizeof(bs_op)")
    _check_name(f"{what}: its name", op["name"])
    named = f"{what}, {op['name']!r},"
    if not op["forward"]:
        raise MissingSymbolError(f"{named} has no forward: its pointer is NULL")
    for field in ("num_inputs", "num_outputs"):
        if not 1 <= op[field] <= abi.MAX_ARRAYS:
            raise NativeLibraryError(f"{named} must have {field} from 1 to {abi.MAX_ARRAYS}, not {op[field]}")
    if op["flags"] & ~abi.KNOWN_FLAGS:
        raise NativeLibraryError(f"{named} has flags that this host does not know: {op['flags']:#x}")
    if op["not_differentiable"] >> op["num_inputs"]:
        raise NativeLibraryError(
            f"{named} has {plural(op['num_inputs'], 'input')}, but not_differentiable names others: "
            f"{op['not_differentiable']:#x}"
        )
    return str(op["name"])
