"""The project's own HLS backends: one per file, the file named after it in snake_case.

This package is the ONNX domain of their nodes, `brainsmith.backends.hls`, as `brainsmith.kernels` is for
kernels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from brainsmith.backends.hls.layer_norm_hls import LayerNormHLS
    from brainsmith.backends.hls.mat_mul_hls import MatMulHLS
    from brainsmith.backends.hls.softmax_hls import SoftmaxHLS

__all__ = ["LayerNormHLS", "MatMulHLS", "SoftmaxHLS"]

_FILES = {"LayerNormHLS": "layer_norm_hls", "MatMulHLS": "mat_mul_hls", "SoftmaxHLS": "softmax_hls"}


def __getattr__(name: str) -> Any:
    if name not in _FILES:
        raise AttributeError(f"module {__name__!r} has no backend {name!r}; it has {', '.join(__all__)}")
    from brainsmith.plugin.info import PluginInfo
    from brainsmith.plugin.loading import import_object

    return import_object(
        PluginInfo(
            name=name,
            type="backend",
            framework="brainsmith",
            reference=f"{__name__}.{_FILES[name]}:{name}",
            requires=("finn-plus",),
            origin=f"{__path__[0]}/{_FILES[name]}.py",
        )
    )
