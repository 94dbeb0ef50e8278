"""ElementwiseAddRTL: FINN's ElementwiseAdd kernel for integers in RTL."""

from __future__ import annotations

from finn.custom_op.fpgadataflow.elementwise_binary import ElementwiseAdd

from brainsmith.backends.rtl.elementwise_backend import ElementwiseBackend
from brainsmith.plugin.core import backend


@backend(
    kernel="finn:ElementwiseAdd",
    backend_type="rtl",
    description="Integers added value by value: two streams, or a stream and a constant",
    op_type="ElementwiseAddInt_rtl",
)
class ElementwiseAddRTL(ElementwiseBackend, ElementwiseAdd):
    """The sum after a residual branch, or a constant added to a stream."""

    operations = ("ADD", "ADD")
    results = "sums"
