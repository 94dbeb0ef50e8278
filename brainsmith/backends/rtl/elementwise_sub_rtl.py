"""ElementwiseSubRTL: FINN's ElementwiseSub kernel for integers in RTL."""

from __future__ import annotations

from finn.custom_op.fpgadataflow.elementwise_binary import ElementwiseSub

from brainsmith.backends.rtl.elementwise_backend import ElementwiseBackend
from brainsmith.plugin.core import backend


@backend(
    kernel="finn:ElementwiseSub",
    backend_type="rtl",
    description="Integers subtracted value by value: two streams, or a stream and a constant",
    op_type="ElementwiseSubInt_rtl",
)
class ElementwiseSubRTL(ElementwiseBackend, ElementwiseSub):
    """The difference of two branches, or of a stream and a constant, either of which may be the first."""

    operations = ("SUB", "RSB")
    results = "differences"
