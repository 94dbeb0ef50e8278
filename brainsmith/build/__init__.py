"""One build: quantised model and blueprint in; hardware layers, verified at every step, and a report out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith.lazy_names import lazy_names

if TYPE_CHECKING:
    from brainsmith.build.build_model import build as build
    from brainsmith.build.result import BuildResult as BuildResult

_HOMES = {"build": "brainsmith.build.build_model", "BuildResult": "brainsmith.build.result"}

__all__ = ["BuildResult", "build"]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
