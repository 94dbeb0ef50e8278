"""What stands for the packages that decide what a model computes: theirs are folded constants and inferred shapes."""

from __future__ import annotations

from functools import cache

from brainsmith.plugin.distributions import info_folders, search_folders
from brainsmith.store.files import stamp

PACKAGES = ("numpy", "onnx", "onnxruntime", "qonnx", "finn")

LASTING = ("ai.onnx", "qonnx.", "onnx.brevitas", "finn.")
"""Domains whose operators change only with these packages, beside ONNX's own: those of plugins may change any time."""


def is_lasting(domain: str) -> bool:
    """Tell whether what an operator of a domain computed may be kept for another process."""
    return not domain or domain.startswith(LASTING)


@cache
def foreign_code() -> str:
    """Return what changes when one of them is upgraded, installed again, or found elsewhere; none is imported.

    A distribution may have a longer name than its package: `onnxruntime_gpu`.
    """
    found = [info for info in info_folders(search_folders()) if info.name.lower().startswith(PACKAGES)]
    return "|".join(sorted(f"{info.path} {stamp(info.path)}" for info in found))
