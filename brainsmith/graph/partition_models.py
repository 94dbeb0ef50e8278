"""The models that the partitions of a model name: files that are opened when it is executed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brainsmith.graph.well_formed import all_graphs

if TYPE_CHECKING:
    from collections.abc import Iterator

PARTITIONS = ("StreamingDataflowPartition", "GenericPartition")
"""Operators whose attribute `model` is the path of another model."""


def partitions_of(graph: Any) -> Iterator[str]:
    """Yield the files that the partitions of a graph name, and those of the graphs inside of its nodes.

    Args:
        graph: An ONNX graph.
    """
    for inner in all_graphs(graph):
        for node in inner.node:
            if node.op_type in PARTITIONS:
                yield from (os.fsdecode(each.s) for each in node.attribute if each.name == "model" and each.s)


def partition_model(path: str) -> Any | None:
    """Return the model of a file, without its external data; None if there is none: executing it says so."""
    import onnx  # whoever opens a model has it
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped]

    try:
        # A pipe would be waited for.
        return onnx.load_from_string(Path(path).read_bytes()) if Path(path).is_file() else None
    except (OSError, DecodeError):
        return None
