"""Layers on trial: models of single nodes, random inputs, and what the kernels compute of them in Python.

Tests, benchmarks and drawings of cores start from here. Many cases are one model, so that one build serves all.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from brainsmith.graph.integer_range import FLOAT64_END
from brainsmith.plugin.info import FINN_RTL
from brainsmith.rtl.cores.integers import WHOLE as WHOLE
from brainsmith.rtl.cores.integers import is_wide

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.random import Generator
    from numpy.typing import NDArray
    from onnx import NodeProto, ValueInfoProto
    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.rtl.stitching.design import Design


@dataclass
class Case:
    """One node.

    Attributes:
        op_type: Of the backend's node.
        inputs: Shape of a frame and datatype of each input that is fed.
        attributes: Of the node.
        outputs: How many there are.
        constants: Values and datatypes of inputs that are constants; they follow those that are fed.
        domain: Of the node.
        frames: To feed, (frames, *shape), one array for each input; random ones of the whole range by default.
        constants_first: Whether constants come before the inputs that are fed.
    """

    op_type: str
    inputs: Sequence[tuple[Sequence[int], str]]
    attributes: Mapping[str, Any]
    outputs: int = 1
    constants: Sequence[tuple[Any, str]] = field(default_factory=list)
    domain: str = FINN_RTL
    frames: Sequence[NDArray[Any]] | None = None
    constants_first: bool = False

    def names(self, at: int) -> tuple[list[str], list[str], list[str]]:
        """Return the tensors of the case with a number: those fed, constants, outputs."""
        inputs = [f"c{at}_in{i}" for i in range(len(self.inputs) + len(self.constants))]
        fed = len(self.inputs)
        return inputs[:fed], inputs[fed:], [f"c{at}_out{i}" for i in range(self.outputs)]

    def node(self, at: int) -> NodeProto:
        """Return the node of the case with a number."""
        fed, constants, outputs = self.names(at)
        inputs = constants + fed if self.constants_first else fed + constants
        name = f"{self.op_type}_{at}"
        return helper.make_node(
            self.op_type, inputs, outputs, name=name, domain=self.domain, backend="fpgadataflow", **self.attributes
        )  # fmt: skip


def make_model(cases: Sequence[Case]) -> ModelWrapper:
    """Return a model of all cases, none connected to another."""
    from qonnx.core.datatype import DataType
    from qonnx.core.modelwrapper import ModelWrapper

    nodes, fed, given, constants = [], [], [], []
    kinds: dict[str, str] = {}
    for at, case in enumerate(cases):
        node = case.node(at)
        nodes.append(node)
        inputs, stored, outputs = case.names(at)
        results = _given(node, case.outputs)
        for name, (shape, kind) in zip(inputs, case.inputs, strict=True):
            fed.append(_value(name, shape, kind))
            kinds[name] = kind
        for name, (values, kind) in zip(stored, case.constants, strict=True):
            constants.append(numpy_helper.from_array(np.asarray(values, np.float32), name))
            kinds[name] = kind
        for name, (shape, kind) in zip(outputs, results, strict=True):
            given.append(_value(name, shape, kind))
            kinds[name] = kind
    graph = helper.make_graph(nodes, "cases", fed, given, initializer=constants)
    domains = sorted({"", *(case.domain for case in cases)})
    opsets = [helper.make_opsetid(name, 1 if name else 17) for name in domains]
    model = ModelWrapper(helper.make_model(graph, opset_imports=opsets))
    for name, kind in kinds.items():
        model.set_tensor_datatype(name, DataType[kind])
    return model


def _value(name: str, shape: Sequence[int], kind: str) -> ValueInfoProto:
    """Declare a tensor of integers: float64 where float32 does not hold all of its datatype."""
    from qonnx.core.datatype import DataType

    return helper.make_tensor_value_info(
        name, TensorProto.DOUBLE if is_wide(DataType[kind]) else TensorProto.FLOAT, shape
    )


def random_values(random: Generator, kind: str, shape: Sequence[int], most: int = WHOLE) -> NDArray[np.int64]:
    """Return values of a datatype, of a magnitude up to `most`: by default what float32 holds.

    The least and the greatest are among them if possible.
    """
    from qonnx.core.datatype import DataType

    datatype = DataType[kind]
    if kind == "BIPOLAR":
        return 2 * random.integers(0, 2, shape) - 1
    low, high = max(int(datatype.min()), -most), min(int(datatype.max()), most)
    values = random.integers(low, high + 1, shape).reshape(-1)
    if values.size > 1:
        values[random.choice(values.size, 2, replace=False)] = low, high
    return values.reshape(shape)


def golden_tensors(
    model: ModelWrapper, cases: Sequence[Case], count: int, seed: int
) -> dict[str, NDArray[Any]]:
    """Return (frames, *shape of one) by tensor: the inputs, and what the kernels compute of them in Python.

    Args:
        model: Of the cases.
        cases: Those without frames of their own get random ones.
        count: Of frames.
        seed: Of the random values.
    """
    random = np.random.default_rng(seed)
    tensors: dict[str, NDArray[Any]] = {}
    for at, case in enumerate(cases):
        fed = case.frames or [
            random_values(random, kind, (count, *shape), FLOAT64_END) for shape, kind in case.inputs
        ]
        for name, values in zip(case.names(at)[0], fed, strict=True):
            tensors[name] = np.asarray(values)
        tensors |= _computed(model, model.graph.node[at], tensors, count)
    return tensors


def make_design(cases: Sequence[Case], folder: Path, part: str) -> tuple[ModelWrapper, Design]:
    """Return the model of all cases and their circuits, none connected to another.

    Args:
        cases: Nodes of RTL backends.
        folder: Where the layers are generated.
        part: The FPGA.
    """
    from brainsmith.rtl.stitching.codegen import generate_layers
    from brainsmith.rtl.stitching.stitch import stitch

    model = generate_layers(make_model(cases), folder, part)
    return model, stitch(model)


def _given(node: NodeProto, count: int) -> list[tuple[list[int], str]]:
    """Return shape and datatype of each output of a node."""
    from qonnx.custom_op.registry import getCustomOp

    layer = getCustomOp(node)
    return [
        ([int(size) for size in layer.get_normal_output_shape(i)], layer.get_output_datatype(i).name)
        for i in range(count)
    ]


def _type(model: ModelWrapper, name: str) -> type[np.floating[Any]]:
    """Return the type in which a tensor is passed."""
    return np.float64 if is_wide(model.get_tensor_datatype(name)) else np.float32


def _computed(
    model: ModelWrapper, node: NodeProto, tensors: Mapping[str, NDArray[Any]], count: int
) -> dict[str, NDArray[Any]]:
    """Return the outputs of a node for all frames."""
    from qonnx.custom_op.registry import getCustomOp

    layer = getCustomOp(node)
    found: dict[str, list[NDArray[Any]]] = {name: [] for name in node.output}
    for frame in range(count):
        context: dict[str, NDArray[Any]] = {}
        for name in node.input:
            constant = model.get_initializer(name)
            context[name] = tensors[name][frame].astype(_type(model, name)) if constant is None else constant
        context |= {name: np.zeros(model.get_tensor_shape(name), _type(model, name)) for name in node.output}
        layer.execute_node(context, model.graph)
        for name in node.output:
            found[name].append(context[name])
    return {name: np.stack(values) for name, values in found.items()}
