"""What operators compute: one file for each family, for programs and for standard ONNX.

    readers.py      `@reads`, and which modules have readers

A reader makes of a node a frozen value, which says what the operator computes, and nothing of how the node states it::

    @reads(QONNX, "MultiThreshold")
    def multi_threshold(node: NodeView) -> Threshold:
        return Threshold.of(node.needed_constant(1, "thresholds"), ...)

The value has the methods that the class of a kernel may have, too (`semantics.py`): `to_program(node)`,
`to_onnx(node, emit)` and `mixes_runs(node)`. `raise Unsupported("why")`, in the reader or in a method, leaves the node to
its own Python model or to ONNX Runtime; standard ONNX then cannot be written.
"""
