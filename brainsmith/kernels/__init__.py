"""The project's own kernels: one per file, the file named after it in snake_case.

This package is the ONNX domain of their nodes, `brainsmith.kernels`: QONNX imports the module that a node's domain
names and looks for the node's type in it. So a saved model finds its kernels in any process, whether it has used the
hub or not. A kernel, and FINN below it, is imported when it is first looked up.

The type of a node is the name of the kernel's class, `MatMulKernel` for the kernel MatMul: FINN's and QONNX's
transforms look at a node's type and not at its domain, and would take a `MatMul` of this domain for ONNX's.
"""

from __future__ import annotations

from brainsmith.plugin.operators import lazy_operators

__getattr__ = lazy_operators(__name__)
