"""A QONNX graph in the making: its nodes one after the other, and the real value of each tensor's integer 1."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

OPSET = 17
IR_VERSION = 9
QONNX_DOMAIN = "qonnx.custom_op.general"
PIXEL_TYPE = "UINT5"


@dataclass
class Graph:
    """Nodes, initialisers and tensor shapes in the making.

    `tail` is the tensor that the next node reads, `shape` its shape, `scale` the real value of its integer 1.
    """

    tail: str
    shape: list[int]
    scale: float = 1.0
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    constants: list[onnx.TensorProto] = field(default_factory=list)
    tensors: list[onnx.ValueInfoProto] = field(default_factory=list)

    def constant(self, name: str, values: NDArray[np.generic] | float, dtype: type = np.float32) -> str:
        """Add an initialiser."""
        self.constants.append(numpy_helper.from_array(np.asarray(values, dtype=dtype), name))
        return name

    def node(
        self,
        op_type: str,
        name: str,
        inputs: list[str],
        shape: list[int],
        **attributes: int | str | list[int],
    ) -> str:
        """Add a node and the shape of its one output, which is named after it."""
        output = f"{name}_out"
        self.nodes.append(helper.make_node(op_type, inputs, [output], name=name, **attributes))
        self.tensors.append(helper.make_tensor_value_info(output, TensorProto.FLOAT, shape))
        return output

    def step(
        self, op_type: str, name: str, other: list[str], shape: list[int], **attributes: int | list[int]
    ) -> None:
        """Add a node that reads the tail and becomes the tail."""
        self.tail = self.node(op_type, name, [self.tail, *other], shape, **attributes)
        self.shape = shape

    def quant(self, name: str, source: str, shape: list[int], scale: float, bits: int, narrow: bool) -> str:
        """Add a signed Quant node with its scale, zero point and bit width."""
        inputs = [
            source,
            self.constant(f"{name}_scale", scale),
            self.constant(f"{name}_zeropt", 0.0),
            self.constant(f"{name}_bitwidth", bits),
        ]
        return self.node(
            "Quant",
            name,
            inputs,
            shape,
            domain=QONNX_DOMAIN,
            signed=1,
            narrow=int(narrow),
            rounding_mode="ROUND",
        )

    def quantise_tail(self, name: str, scale: float, bits: int) -> None:
        """Add the Quant node of an activation."""
        self.tail = self.quant(name, self.tail, self.shape, scale, bits, narrow=False)
        self.scale = scale

    def end_with_logits(self) -> onnx.ValueInfoProto:
        """Name the tail `logits`, and return it as the graph's output."""
        self.tensors.pop()  # the graph's output has its shape and its own name
        self.nodes[-1].output[0] = "logits"
        return helper.make_tensor_value_info("logits", TensorProto.FLOAT, self.shape)

    def end_with_label(self) -> onnx.ValueInfoProto:
        """Add the arg-max, and return `label`, (1, 1): the number of the greatest value, the first of equals."""
        shape = [*self.shape[:-1], 1]
        inputs = [self.tail, self.constant("arg_max_k", np.ones(1), np.int64)]
        outputs = ["arg_max_value", "label"]
        self.nodes.append(helper.make_node("TopK", inputs, outputs, name="arg_max", axis=-1))
        self.tensors.append(helper.make_tensor_value_info("arg_max_value", TensorProto.FLOAT, shape))
        return helper.make_tensor_value_info("label", TensorProto.INT64, shape)

    def save(self, name: str, shape: list[int], output: onnx.ValueInfoProto, path: Path) -> None:
        """Check and write the model; its input is `image`."""
        proto = helper.make_graph(
            self.nodes,
            f"digits_{name}",
            [helper.make_tensor_value_info("image", TensorProto.FLOAT, shape)],
            [output],
            self.constants,
            value_info=self.tensors,
        )
        annotation = proto.quantization_annotation.add()
        annotation.tensor_name = "image"
        annotation.quant_parameter_tensor_names.add(key="finn_datatype", value=PIXEL_TYPE)
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(QONNX_DOMAIN, 1)]
        model = helper.make_model(
            proto, producer_name="brainsmith examples/digits", ir_version=IR_VERSION, opset_imports=opsets
        )
        onnx.checker.check_model(model)
        path.write_bytes(model.SerializeToString(deterministic=True))
