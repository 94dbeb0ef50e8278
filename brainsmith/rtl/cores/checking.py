"""Simulate a kernel's RTL backend alone, against what the kernel computes in Python."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.errors import BuildError
from brainsmith.plugin import get_plugin_manager
from brainsmith.plugin.adapters.finn_runtime import prepare_finn
from brainsmith.plugin.collections import backends_of
from brainsmith.plugin.operators import op_type_of
from brainsmith.rtl.simulation.build import build_simulator
from brainsmith.rtl.stitching.codegen import generate_layers
from brainsmith.rtl.stitching.stitch import stitch
from brainsmith.rtl.stitching.top_module import plan_design
from brainsmith.rtl.verification.frames import design_beats
from brainsmith.rtl.verification.layers import take_apart, verify_layers

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray
    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.plugin.info import PluginInfo
    from brainsmith.rtl.stitching.design import Design
    from brainsmith.rtl.verification.layers import LayerCheck

PART = "xczu7ev-ffvc1156-2-e"


@dataclass(frozen=True)
class KernelCheck:
    """A layer alone against its kernel.

    Attributes:
        layer: What was compared, without stalls and with random ones.
        interval: Cycles from the second-last frame to the last, nothing held back.
        estimate: What the kernel says of that.
    """

    layer: LayerCheck
    interval: int
    estimate: int

    @property
    def right(self) -> bool:
        """Tell whether every value is what the kernel computes."""
        return self.layer.right

    def __str__(self) -> str:
        return f"{self.layer}; {self.interval} cycles a frame, {self.estimate} estimated"


def check_kernel(
    kernel: str,
    folder: Path,
    *,
    frames: int = 4,
    seed: int = 0,
    attributes: Mapping[str, int | str] | None = None,
    part: str = PART,
    cache: Path | None = None,
) -> KernelCheck:
    """Simulate a kernel's first RTL backend with random inputs, and compare with its Python execution.

    Args:
        kernel: Its name.
        folder: Where its Verilog is generated.
        frames: To run, 2 or more.
        seed: Of inputs and stalls.
        attributes: Of the node; its defaults where they are not given.
        part: The FPGA.
        cache: Where simulations are kept; the user's cache folder by default.

    Raises:
        BuildError: The kernel has no RTL backend.
        SimulationError: It cannot be built, or reports an error.
    """
    if frames < 2:
        raise ValueError(f"frames must be 2 or more, not {frames!r}")
    prepare_finn()
    backend = _rtl_backend(kernel)
    model = generate_layers(single_node(backend, attributes or {}), folder, part)
    design = stitch(model)
    golden = golden_frames(model, frames, seed)
    layer = verify_layers(design, golden, seed=seed + 1, cache=cache)[0]
    interval = layer_intervals(design, golden, cache)[layer.layer]
    return KernelCheck(layer, interval, design.layers[-1].cycles)


def single_node(backend: PluginInfo, attributes: Mapping[str, int | str]) -> ModelWrapper:
    """Return a model of one node of a backend whose class says its streams (`StreamKernel`)."""
    from onnx import helper
    from qonnx.core.modelwrapper import ModelWrapper
    from qonnx.custom_op.registry import getCustomOp

    cls = backend.load()
    inputs = [f"in{at}" for at in range(len(cls.inputs))]
    outputs = [f"out{at}" for at in range(len(cls.outputs))]
    node = helper.make_node(
        op_type_of(backend), inputs, outputs, name=op_type_of(backend), domain=backend.extra["domain"],
        backend="fpgadataflow", **attributes,
    )  # fmt: skip
    layer = getCustomOp(node)
    fed = [_tensor(name, layer.get_normal_input_shape(at)) for at, name in enumerate(inputs)]
    given = [_tensor(name, layer.get_normal_output_shape(at)) for at, name in enumerate(outputs)]
    graph = helper.make_graph([node], "kernel", fed, given)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(backend.extra["domain"], 1)]
    model = ModelWrapper(helper.make_model(graph, opset_imports=opsets))
    for at, name in enumerate(inputs):
        model.set_tensor_datatype(name, layer.get_input_datatype(at))
    for at, name in enumerate(outputs):
        model.set_tensor_datatype(name, layer.get_output_datatype(at))
    return model


def golden_frames(model: ModelWrapper, frames: int, seed: int) -> dict[str, NDArray[Any]]:
    """Return random inputs of a model and all that its nodes compute of them, (frames, *shape of one) by tensor."""
    from qonnx.custom_op.registry import getCustomOp

    random = np.random.default_rng(seed)
    fed = [value.name for value in model.graph.input if model.get_initializer(value.name) is None]
    tensors: dict[str, NDArray[Any]] = {
        name: random_values(random, model.get_tensor_datatype(name), (frames, *model.get_tensor_shape(name)))
        for name in fed
    }
    found: dict[str, list[NDArray[Any]]] = {}
    for frame in range(frames):
        context = {name: values[frame].astype(np.float32) for name, values in tensors.items()}
        for node in model.graph.node:
            constants = {name: model.get_initializer(name) for name in node.input if name not in context}
            empty = {name: np.zeros(model.get_tensor_shape(name), np.float32) for name in node.output}
            context |= constants | empty
            getCustomOp(node).execute_node(context, model.graph)
            for name in node.output:
                found.setdefault(name, []).append(context[name])
    return tensors | {name: np.stack(values) for name, values in found.items()}


def random_values(random: np.random.Generator, kind: Any, shape: tuple[int, ...]) -> NDArray[np.int64]:
    """Return values of a datatype; the least and the greatest are among them if there is room."""
    if kind.name == "BIPOLAR":
        return 2 * random.integers(0, 2, shape) - 1
    low, high = int(kind.min()), int(kind.max())
    values = random.integers(low, high, shape, endpoint=True).reshape(-1)
    if values.size > 1:
        values[random.choice(values.size, 2, replace=False)] = low, high
    return values.reshape(shape)


def layer_intervals(
    design: Design, golden: Mapping[str, NDArray[Any]], cache: Path | None = None
) -> dict[str, int]:
    """Return the cycles between the last two frames of each layer alone, which nothing holds back."""
    apart = take_apart(design)
    frames, words, counts = design_beats(apart, golden)
    result = build_simulator(plan_design(apart), cache=cache, quick=True).run(words, counts, judge=False)
    found = {}
    for link in apart.links:
        if link.source.layer in {layer.name for layer in design.layers} and link.layout is not None:
            spans = result.streams[link.target.stream].frames(frames)
            found[link.source.layer] = spans[-1][1] - spans[-2][1]
    return found


def _tensor(name: str, shape: Any) -> Any:
    from onnx import TensorProto, helper

    return helper.make_tensor_value_info(name, TensorProto.FLOAT, [int(size) for size in shape])


def _rtl_backend(kernel: str) -> PluginInfo:
    registry = get_plugin_manager().all_records()[0]
    found = [
        info
        for info in backends_of(registry, registry.resolve("kernel", kernel))
        if info.backend_type == "rtl"
    ]
    if not found:
        raise BuildError(
            f"kernel {kernel!r} has no RTL backend: `brainsmith plugins list --type backend` lists them"
        )
    return found[0]
