"""NoLayerError: why a node has no layer of integers."""

from __future__ import annotations

from brainsmith.errors import ModelError


class NoLayerError(ModelError):
    """There is no layer of integers for a node; the text says why."""
