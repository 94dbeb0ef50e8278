"""Write a QONNX graph node by node, with the shape of each tensor known as it is written."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

CUSTOM = "qonnx.custom_op.general"


@dataclass(frozen=True)
class Tensor:
    """A tensor of the graph: its name and shape: (batch, features), or (batch, channels) and places."""

    name: str
    shape: tuple[int, ...]

    @property
    def channels(self) -> int:
        """The size of dimension 1."""
        return self.shape[1]

    @property
    def is_image(self) -> bool:
        """Whether it has height and width."""
        return len(self.shape) == 4

    @property
    def is_row(self) -> bool:
        """Whether it has a length alone."""
        return len(self.shape) == 3

    @property
    def has_places(self) -> bool:
        """Whether windows slide over it."""
        return len(self.shape) > 2

    def along_channels(self) -> tuple[int, ...]:
        """Return the shape of a constant with one value for each channel."""
        return (1, self.channels, *([1] * (len(self.shape) - 2)))


@dataclass
class Writer:
    """The nodes and constants written so far.

    Attributes:
        layers: What was written, in words, for a report.
        named: Whether nodes get names; exporters may leave them out.
    """

    named: bool = True
    nodes: list[NodeProto] = field(default_factory=list)
    constants: dict[str, np.ndarray] = field(default_factory=dict)
    layers: list[str] = field(default_factory=list)

    def constant(self, value: object, dtype: type = np.float32) -> str:
        """Add a constant, and return its name."""
        name = f"c{len(self.constants)}"
        self.constants[name] = np.asarray(value, dtype)
        return name

    def node(
        self, op_type: str, inputs: list[str], shape: tuple[int, ...], domain: str = "", **attributes: object
    ) -> Tensor:
        """Add a node with one output of a shape."""
        (result,) = self.split(op_type, inputs, [shape], domain, **attributes)
        return result

    def split(
        self,
        op_type: str,
        inputs: list[str],
        shapes: list[tuple[int, ...]],
        domain: str = "",
        **attributes: object,
    ) -> list[Tensor]:
        """Add a node with an output for each shape."""
        at = len(self.nodes)
        outputs = [f"t{at}" if len(shapes) == 1 else f"t{at}_{k}" for k in range(len(shapes))]
        name = f"{op_type}_{at}" if self.named else ""
        self.nodes.append(helper.make_node(op_type, inputs, outputs, name=name, domain=domain, **attributes))
        return [Tensor(output, shape) for output, shape in zip(outputs, shapes, strict=True)]

    def model(
        self, inputs: list[Tensor], outputs: list[Tensor], integers: tuple[str, ...] = ()
    ) -> ModelProto:
        """Return the model; outputs named in `integers` are int64."""

        def value(tensor: Tensor) -> object:
            kind = TensorProto.INT64 if tensor.name in integers else TensorProto.FLOAT
            return helper.make_tensor_value_info(tensor.name, kind, tensor.shape)

        graph = helper.make_graph(
            self.nodes,
            "hunted",
            [value(tensor) for tensor in inputs],
            [value(tensor) for tensor in outputs],
            initializer=[numpy_helper.from_array(array, name) for name, array in self.constants.items()],
        )
        opsets = [helper.make_opsetid("", 13), helper.make_opsetid(CUSTOM, 1)]
        return helper.make_model(graph, ir_version=9, opset_imports=opsets)
