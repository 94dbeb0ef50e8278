"""The project's own HLS backends: one per file, the file named after it in snake_case.

This package is the ONNX domain of their nodes, `brainsmith.backends.hls`, as `brainsmith.kernels` is for
kernels.
"""

from __future__ import annotations

from brainsmith.plugin.operators import lazy_operators

__getattr__ = lazy_operators(__name__)
