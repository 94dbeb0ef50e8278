"""Constants of a layer as a C++ struct, which the templates of its header take."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from qonnx.core.datatype import BaseDataType

_PER_LINE = 16
_INTEGER_BITS = 64
_UNSIGNED_BITS = 32


def parameters(name: str, kind: str, constants: Mapping[str, int], body: str = "") -> str:
    """Return a struct with a type `input`, integers, and further members.

    Args:
        name: Of the struct.
        kind: C++ type that reads a lane (lanes.hpp).
        constants: Values by name; each fits in 31 bits.
        body: Members, C++.
    """
    stated = "".join(f"    enum {{ {key} = {value} }};\n" for key, value in constants.items())
    return f"struct {name} {{\n    typedef {kind} input;\n{stated}{body}}};\n"


def lane_problem(datatype: BaseDataType) -> str:
    """Return why values of a datatype cannot be read as real numbers, as the end of a sentence; empty if they can."""
    read = datatype.name == "FLOAT32" or (
        datatype.is_integer() and datatype.name != "BIPOLAR" and datatype.bitwidth() <= _INTEGER_BITS
    )
    return (
        ""
        if read
        else f"its input is {datatype.name}, and it takes FLOAT32, and INTn and UINTn of up to 64 bits"
    )


def lane_kind(datatype: BaseDataType) -> str:
    """Return the type of lanes.hpp that reads values of a datatype."""
    if datatype.is_integer():
        return f"brainsmith::Integer<{datatype.bitwidth()}, {str(bool(datatype.signed())).lower()}>"
    return "brainsmith::Float"


def table_function(name: str, values: Sequence[int]) -> str:
    """Return a static member function that looks a number up; a synthesis makes a ROM of it.

    Args:
        name: Of the function.
        values: Numbers from 0, of up to 64 bits.
    """
    kind = "unsigned" if max(values) >> _UNSIGNED_BITS == 0 else "unsigned long long"
    lines = [
        ", ".join(map(str, values[begin : begin + _PER_LINE])) for begin in range(0, len(values), _PER_LINE)
    ]
    listed = ",\n            ".join(lines)
    return (
        f"    static {kind} {name}(unsigned address) {{\n"
        f"        static const {kind} table[{len(values)}] = {{\n            {listed}}};\n"
        "        return table[address];\n    }\n"
    )
