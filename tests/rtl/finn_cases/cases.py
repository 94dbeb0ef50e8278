"""A case of FINN's own tests: an operator, the layer that FINN makes of it, and what is known of it."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from finn.transformation.fpgadataflow.specialize_layers import SpecializeLayers
from onnx import TensorProto, helper
from qonnx.core.datatype import DataType
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.core.onnx_exec import execute_onnx
from qonnx.custom_op.registry import getCustomOp
from qonnx.transformation.infer_shapes import InferShapes

from tests.rtl.finn_cases.values import random_values

HARDWARE = "finn.custom_op.fpgadataflow"


@dataclass
class Case:
    """One case.

    Attributes:
        golden: A model of the operator before it became hardware, or None if `compute` stands for it.
        layer: A model of one RTL node.
        part: The FPGA.
        tolerance: By how many cycles FINN's test lets the simulation differ from the estimate; None if it does not
            compare them.
        relative: The same as a share of the simulation's cycles.
        reorder: From the operator's result to the layer's, for one frame.
        compute: From the inputs of one frame, in the layer's order, to the operator's result.
        stalled: Whether the output may be held back.
        doubled: Whether the layer needs the second clock.
    """

    golden: ModelWrapper | None
    layer: ModelWrapper
    part: str
    tolerance: int | None = None
    relative: float = 0.0
    reorder: Callable[[np.ndarray], np.ndarray] = lambda result: result
    compute: Callable[..., np.ndarray] | None = None
    stalled: bool = True
    doubled: bool = False
    fed: list[str] = field(init=False)

    def __post_init__(self):
        self.fed = [
            name for name in self.layer.graph.node[0].input if self.layer.get_initializer(name) is None
        ]

    @property
    def node(self):
        return getCustomOp(self.layer.graph.node[0])

    def random_frame(self, rng):
        """Return random values for each input that is not a constant."""
        return {
            name: random_values(rng, self.node.get_input_datatype(at), self.layer.get_tensor_shape(name))
            for at, name in enumerate(self.layer.graph.node[0].input)
            if name in self.fed
        }

    def expected(self, frame):
        """Return what the operator gives."""
        if self.compute is not None:
            return self.reorder(self.compute(*frame.values()))
        return self.reorder(execute_onnx(self.golden, dict(frame))[self.golden.graph.output[0].name])


def make_model(node, inputs, outputs, kinds, initializers=None):
    """Make a model of one node.

    `inputs` and `outputs` are shapes by name, `kinds` datatypes by name, `initializers` values by name.
    """
    values = [
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in ends.items()]
        for ends in (inputs, outputs)
    ]
    graph = helper.make_graph([node], "case", *values)
    opsets = [helper.make_opsetid("", 13), helper.make_opsetid(HARDWARE, 1)]
    model = ModelWrapper(helper.make_model(graph, opset_imports=opsets))
    for name, value in (initializers or {}).items():
        model.set_initializer(name, value)
    for name, kind in kinds.items():
        model.set_tensor_datatype(name, DataType[kind])
    return model


def specialised(model, part, op_type, **attributes):
    """Let FINN choose the implementation of a model's only node, make sure that it is the one named, and fold it."""
    model = model.transform(SpecializeLayers(part)).transform(InferShapes())
    (node,) = model.graph.node
    assert node.op_type == op_type
    for name, value in attributes.items():
        getCustomOp(node).set_nodeattr(name, value)
    return model
