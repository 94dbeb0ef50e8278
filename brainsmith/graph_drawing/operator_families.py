"""Families of operators: what the colours of a graph stand for."""

from __future__ import annotations

FAMILIES = {
    "port": "input, output",
    "compute": "matrix, convolution",
    "threshold": "quantiser, threshold, activation",
    "arithmetic": "element-wise",
    "movement": "data movement, shape",
    "memory": "memory of weights",
    "other": "other",
}
# Parts of operator names in lower case; `=` stands before a whole name. The first line with a part gives the
# family, so that ConvolutionInputGenerator is no convolution.
_MARKS = {
    "port": ("=input", "=output"),
    "memory": ("=memory",),
    "movement": (
        "reshape", "=transpose", "flatten", "squeeze", "im2col", "pad", "concat", "split", "slice", "gather",
        "fifo", "datawidth", "dwc", "inputgenerator", "duplicate", "iodma", "shuffle", "crop", "upsample",
        "resize", "=shape", "space", "streamingdataflow", "lookup",
    ),
    "compute": ("matmul", "mvau", "vvau", "conv", "gemm", "matrixvector", "vectorvector", "einsum"),
    "threshold": (
        "quant", "threshold", "relu", "sigmoid", "tanh", "softmax", "gelu", "trunc", "=clip", "=sign",
    ),
    "arithmetic": ("add", "mul", "sub", "div", "norm", "pow", "sqrt", "elementwise", "mean", "sum"),
}  # fmt: skip


def family(op_type: str) -> str:
    """Say which family an operator belongs to; only a colour depends on it."""
    name = op_type.lower()
    for found, marks in _MARKS.items():
        if any(name == mark[1:] if mark[0] == "=" else mark in name for mark in marks):
            return found
    return "other"
