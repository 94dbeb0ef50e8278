"""Count what a layer needs by synthesising it alone: for layers of which there is no model."""

from __future__ import annotations

import copy
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from onnx import helper

from brainsmith.steps.resources import RESOURCES

if TYPE_CHECKING:
    from onnx import NodeProto
    from qonnx.core.modelwrapper import ModelWrapper


def synthesised_alone(node: NodeProto, model: ModelWrapper, part: str, clock_ns: float) -> dict[str, int]:
    """Return what Yosys makes of one layer, by `RESOURCES`, with the memory of its weights.

    What was synthesised before, of the same content, is not done again.

    Args:
        node: Of an RTL backend; neither it nor the model is changed.
        model: Holds the layer's constants, shapes and datatypes.
        part: The FPGA.
        clock_ns: Period of its clock.

    Raises:
        BuildError: The part is of no known family, or Yosys refuses the layer.
        ToolError: pyosys is missing.
    """
    from brainsmith.rtl.stitching.codegen import generate_layers
    from brainsmith.rtl.stitching.stitch import stitch
    from brainsmith.rtl.synthesis.synthesise import synthesise_layers

    with tempfile.TemporaryDirectory(prefix="brainsmith-layer-") as folder:
        alone = generate_layers(layer_alone(node, model), Path(folder), part, clock_ns)
        (layer,) = synthesise_layers(stitch(alone), part)
    return {name: getattr(layer.used, name) for name in RESOURCES}


def layer_alone(node: NodeProto, model: ModelWrapper) -> ModelWrapper:
    """Return a model of one node of another model, with its constants."""
    from qonnx.core.modelwrapper import ModelWrapper

    tensors = [name for name in (*node.input, *node.output) if name]
    constants = [copy.deepcopy(each) for each in model.graph.initializer if each.name in node.input]
    held = {each.name for each in constants}
    shown = {name: helper.make_tensor_value_info(name, 1, model.get_tensor_shape(name)) for name in tensors}
    fed = [shown[name] for name in node.input if name and name not in held]
    given = [shown[name] for name in node.output]
    graph = helper.make_graph([copy.deepcopy(node)], "layer", fed, given, initializer=constants)
    alone = ModelWrapper(helper.make_model(graph, opset_imports=model.model.opset_import))
    for name in tensors:
        alone.set_tensor_datatype(name, model.get_tensor_datatype(name))
    return alone
