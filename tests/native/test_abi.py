"""The header compiles everywhere, and says the same as the structures for ctypes."""

import ctypes
import re
import subprocess
from pathlib import Path

import pytest

from brainsmith import native
from brainsmith.native import abi

HEADER = Path(native.include_folder()) / "brainsmith_plugin.h"
STRUCTURES = {
    "bs_tensor": abi.CTensor,
    "bs_call": abi.Call,
    "bs_op": abi.OpTable,
    "bs_plugin_table": abi.PluginTable,
    "bs_host": abi.Host,
}
STRICT = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only"]


@pytest.mark.parametrize(
    ("compiler", "suffix", "standard"),
    [
        ("cc", "c", "c89"),
        ("cc", "c", "c99"),
        ("cc", "c", "c17"),
        ("g++", "cpp", "c++11"),
        ("g++", "cpp", "c++20"),
    ],
)
def test_the_header_compiles_alone_without_a_warning(tmp_path, compiler, suffix, standard):
    source = tmp_path / f"only.{suffix}"
    source.write_text('#include "brainsmith_plugin.h"\n#include "brainsmith_plugin.h"\n')
    command = [compiler, f"-std={standard}", *STRICT, f"-I{HEADER.parent}", str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_each_field_lies_where_ctypes_looks_for_it(tmp_path):
    expected, lines = {}, []
    for name, structure in STRUCTURES.items():
        expected[name] = ctypes.sizeof(structure)
        lines.append(f'printf("{name} %zu\\n", sizeof({name}));')
        for field, _ in structure._fields_:
            expected[f"{name}.{field}"] = getattr(structure, field).offset
            lines.append(f'printf("{name}.{field} %zu\\n", offsetof({name}, {field}));')
    source = tmp_path / "offsets.c"
    source.write_text(
        '#include <stdio.h>\n#include "brainsmith_plugin.h"\nint main(void) {'
        + "\n".join(lines)
        + "return 0;}"
    )
    program = tmp_path / "offsets"
    subprocess.run(["cc", f"-I{HEADER.parent}", str(source), "-o", str(program)], check=True)
    printed = subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout
    found = {name: int(at) for name, at in (line.split() for line in printed.splitlines())}
    assert found == expected


def test_ctypes_knows_every_field():
    text = re.sub(r"/\*.*?\*/", "", HEADER.read_text(), flags=re.DOTALL)
    for name, structure in STRUCTURES.items():
        body = re.search(rf"typedef struct {name} {{(.*?)}} {name};", text, re.DOTALL).group(1)
        named = [
            re.search(r"(\w+)\)?(\(.*)?$", one.strip()).group(1) for one in body.split(";") if one.strip()
        ]
        assert named == [field for field, _ in structure._fields_], name


def test_numbers_are_those_of_the_header():
    text = HEADER.read_text()
    numbers = {name: int(value) for name, value in re.findall(r"#define BS_(\w+) (\d+)u?\b", text)}
    assert numbers.pop("ABI_VERSION") == abi.ABI_VERSION
    assert numbers.pop("MAX_NDIM") == abi.MAX_NDIM
    assert {numbers.pop("MAX_INPUTS"), numbers.pop("MAX_OUTPUTS")} == {abi.MAX_ARRAYS}
    assert numbers.pop("VALIDATE_BY_SHAPE") == abi.VALIDATE_BY_SHAPE == abi.KNOWN_FLAGS
    for name in ("OK", "ERROR", "INVALID_INPUT", "PANIC"):
        assert numbers.pop(name) == getattr(abi, name)
    assert {name.lower(): code for name, code in numbers.items()} == {
        name: code for code, name in abi.DTYPES.items()
    }


def test_the_header_is_in_the_package():
    assert HEADER.is_file()
    assert HEADER.parent.parent == Path(native.__file__).parent


def test_the_documentation_names_every_structure_field_and_status():
    page = (Path(__file__).parents[2] / "docs" / "native.md").read_text()
    fields = {field for structure in STRUCTURES.values() for field, _ in structure._fields_} - {"reserved"}
    names = {
        *STRUCTURES,
        *fields,
        "BS_OK",
        "BS_ERROR",
        "BS_INVALID_INPUT",
        "BS_PANIC",
        "BS_VALIDATE_BY_SHAPE",
    }
    assert {name for name in names if f"`{name}`" not in page} == set()
