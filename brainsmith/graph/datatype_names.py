"""Names of datatypes in models, judged as text: QONNX takes what it reads as it is, and computes its range."""

from __future__ import annotations

import re

MOST_BITS = 64
"""QONNX's accumulators and NumPy's widest whole numbers end here."""
_MOST_EXPONENT, _MOST_MANTISSA = 11, 52
"""Those of a double."""
INTEGERS = ("BINARY", "BIPOLAR", "TERNARY")
"""The datatypes of integers that are not named after their bits."""
_PLAIN = ("BINARY", "BIPOLAR", "TERNARY", "FLOAT16", "FLOAT32")
_INTEGER = re.compile(r"U?INT([0-9]+)")
_SCALED = re.compile(r"SCALEDINT<([0-9]+)>")
_FIXED = re.compile(r"FIXED<([0-9]+), ?(-?[0-9]+)>")
_FLOAT = re.compile(r"FLOAT<([0-9]+), ?([0-9]+)(?:, ?(-?[0-9]+))?>")
_FORMS = "INT4, UINT8, BINARY, BIPOLAR, TERNARY, FIXED<8,4>, SCALEDINT<8>, FLOAT16, FLOAT32 or FLOAT<5,2>"


def datatype_fault(text: str) -> str:
    """Return what is wrong with the name of a datatype, to follow it in a sentence; nothing if it is one."""
    if text in _PLAIN:
        return ""
    if not text:
        return f"which is empty: a datatype is such as {_FORMS}"
    if found := _INTEGER.fullmatch(text) or _SCALED.fullmatch(text):
        return bits_fault(found[1])
    if found := _FIXED.fullmatch(text):
        return bits_fault(found[1]) or _integer_bits_fault(int(found[1]), found[2])
    if found := _FLOAT.fullmatch(text):
        return _float_fault(*found.groups())
    return f"which is not a datatype; examples are {_FORMS}"


def integer_datatype_fault(text: str) -> str:
    """Return what is wrong with the name of a datatype of integers, to follow it in a sentence; nothing if it is one."""
    if text in INTEGERS:
        return ""
    found = _INTEGER.fullmatch(text)
    return bits_fault(found[1]) if found else "which is not one"


def bits_fault(digits: str) -> str:
    """Return what is wrong with a number of bits; nothing if there can be so many."""
    if len(digits) > 4 or not 1 <= int(digits) <= MOST_BITS:
        return f"which has {shortened(digits)} bits, and there can be 1 to {MOST_BITS}"
    return ""


def shortened(text: str) -> str:
    """Return a text for a message: of a very long one the beginning, and how long it is."""
    return text if len(text) <= 60 else f"{text[:40]}... ({len(text):,} characters)"


def _integer_bits_fault(bits: int, digits: str) -> str:
    if len(digits) > 4 or not -MOST_BITS <= int(digits) < bits:
        return (
            f"which has {shortened(digits)} bits before the point, and there can be {-MOST_BITS} to {bits - 1} "
            f"of its {bits}"
        )
    return ""


def _float_fault(exponent: str, mantissa: str, bias: str | None) -> str:
    for digits, most, what in (
        (exponent, _MOST_EXPONENT, "exponent"),
        (mantissa, _MOST_MANTISSA, "mantissa"),
    ):
        if len(digits) > 4 or int(digits) > most:
            return f"whose {what} has {shortened(digits)} bits, and there can be up to {most}"
    if bias is not None and (len(bias) > 5 or abs(int(bias)) > 1 << _MOST_EXPONENT):
        limit = 1 << _MOST_EXPONENT
        return f"whose bias is {shortened(bias)}, and it can be {-limit} to {limit}"
    return ""
