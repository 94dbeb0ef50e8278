"""One build: quantised model and blueprint in; hardware layers, verified at every step, and a report out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from brainsmith.build.result import BuildResult as BuildResult
    from brainsmith.build.run import build as build

_HOMES = {"build": "brainsmith.build.run", "BuildResult": "brainsmith.build.result"}

__all__ = ["BuildResult", "build"]


def __getattr__(name: str) -> Any:
    """Import a public name at its first use: importing this package costs nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module 'brainsmith.build' has no attribute '{name}'")
    import importlib

    return getattr(importlib.import_module(_HOMES[name]), name)
