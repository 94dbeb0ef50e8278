"""Which transform turns which operators into hardware layers, and what becomes of others: `conversions.yaml`."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from brainsmith.yaml_file import packaged_table


class Conversion(NamedTuple):
    """Operators, and the transform that makes hardware layers of them (a plugin's qualified name)."""

    op_types: tuple[str, ...]
    transform: str


def _conversions(entries: list[dict[str, Any]]) -> tuple[Conversion, ...]:
    return tuple(Conversion(tuple(entry["op_types"]), entry["transform"]) for entry in entries)


_TABLE = packaged_table(Path(__file__).with_name("conversions.yaml").read_text(encoding="utf-8"))

THRESHOLDS, PRODUCTS, STREAMS, OTHERS = (
    _conversions(_TABLE[name]) for name in ("thresholds", "products", "streams", "others")
)
"""The conversions, in the order in which they must run."""

ELEMENTWISE: tuple[str, ...] = tuple(_TABLE["elementwise"])


ELEMENTWISE_TRANSFORM = "finn:InferElementwiseBinaryOperation"

OPERATORS_ABSORBED: tuple[str, ...] = tuple(_TABLE["absorbed"])
"""Operators that earlier steps lower to others, absorb or remove."""


def conversions() -> tuple[Conversion, ...]:
    """Return all conversions into hardware layers."""
    return (*THRESHOLDS, *PRODUCTS, *STREAMS, *OTHERS, Conversion(ELEMENTWISE, ELEMENTWISE_TRANSFORM))


def threshold_op_types() -> tuple[str, ...]:
    """Return the operators that become thresholds: quantisers, and functions of one value in front of them."""
    return (*_TABLE["quantisers"], *_TABLE["rising"], *_TABLE["tabled"])


def convertible_op_types() -> frozenset[str]:
    """Return every operator that the steps of this project can bring into hardware."""
    tables = (THRESHOLDS, PRODUCTS, STREAMS, OTHERS)
    converted = (op_type for table in tables for conversion in table for op_type in conversion.op_types)
    named = (_TABLE[name] for name in ("elementwise", "absorbed", "rising", "tabled", "quantisers"))
    return frozenset((*converted, *(op_type for names in named for op_type in names)))
