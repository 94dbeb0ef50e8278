"""A kernel of a project in its own file, whose semantics may be there or not."""

from tests.execution.program.single_node import one_node

MODEL = '''
import numpy as np

from brainsmith.plugin.core import kernel
from brainsmith.rtl.cores.stream_kernel import StreamKernel, StreamType


@kernel(name="SumPairs", domain="brainsmith.kernels", requires=("finn-plus",))
class SumPairsKernel(StreamKernel):
    """Add the values of each pair, and an offset."""

    attributes = {"offset": 0}
    inputs = (StreamType("in", (1, 3, 8), "INT4", lanes=2),)
    outputs = (StreamType("out", (1, 3, 4), "INT16"),)
    cycles = 12

    def execute_node(self, context, graph):
        pairs = context[self.onnx_node.input[0]]
        context[self.onnx_node.output[0]] = pairs[..., 0::2] + pairs[..., 1::2] + self.get_nodeattr("offset")
'''

SEMANTICS = """
    def to_program(self, node):
        from brainsmith.execution.program.functions import arithmetic, reductions, shapes

        pairs = node.emit(shapes.reshape, node.inputs, shape=(*node.shape(node.outputs[0]), 2))
        total = node.emit(reductions.reduce, [pairs], name="Sum", axes=(3,), keep=False, exact="float32")
        offset = node.hold(np.float32(self.get_nodeattr("offset")))
        node.emit(arithmetic.apply, [total, offset], node.outputs, name="Add")

    def to_onnx(self, node, emit):
        pairs = emit.reshaped(node.inputs[0], (*node.shape(node.outputs[0]), 2))
        emit.add("Add", [emit.sum_over(pairs, [3], keep=False), emit.constant(self.get_nodeattr("offset"), "c")],
                 node.outputs[0])
"""


def sum_pairs(offset=3):
    """Return a model of one such node."""
    shapes = {"x": (1, 3, 8)}, {"y": (1, 3, 4)}
    return one_node(
        "SumPairsKernel", *shapes, domain="brainsmith.kernels", datatypes={"x": "INT4"}, offset=offset
    )
