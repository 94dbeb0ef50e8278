"""The project's own kernels: one per file, the file named after it in snake_case.

This package is the ONNX domain of their nodes, `brainsmith.kernels`: QONNX imports the module that a node's domain
names and looks for the node's type in it. So a saved model finds its kernels in any process, whether it has used the
hub or not. A kernel, and FINN below it, is imported when it is first looked up.

The type of a node is the name of the kernel's class, `MatMulKernel` for the kernel MatMul: FINN's and QONNX's
transforms look at a node's type and not at its domain, and would take a `MatMul` of this domain for ONNX's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from brainsmith.kernels.layer_norm import LayerNormKernel
    from brainsmith.kernels.mat_mul import MatMulKernel
    from brainsmith.kernels.softmax import SoftmaxKernel

__all__ = ["LayerNormKernel", "MatMulKernel", "SoftmaxKernel"]

_FILES = {"LayerNormKernel": "layer_norm", "MatMulKernel": "mat_mul", "SoftmaxKernel": "softmax"}


def __getattr__(name: str) -> Any:
    if name not in _FILES:
        raise AttributeError(f"module {__name__!r} has no kernel {name!r}; it has {', '.join(__all__)}")
    from brainsmith.plugin.info import PluginInfo
    from brainsmith.plugin.loading import import_object

    return import_object(
        PluginInfo(
            name=name,
            type="kernel",
            framework="brainsmith",
            reference=f"{__name__}.{_FILES[name]}:{name}",
            requires=("finn-plus",),
            origin=f"{__path__[0]}/{_FILES[name]}.py",
        )
    )
