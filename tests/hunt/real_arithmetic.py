"""Tell a sample in which float32's rounding decides what a quantiser or an arg-max gives, with the build's own bounds."""

from __future__ import annotations

import numpy as np
from onnx import ModelProto
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.transformation.infer_shapes import InferShapes

from brainsmith.comparison.float_ties.float_network import FloatNetwork
from brainsmith.comparison.float_ties.tie_search import TieSearch, undecided_levels
from tests.hunt.networks import Network


def tied(network: Network, sample: np.ndarray, found: np.ndarray) -> bool:
    """Tell whether the network itself gives what was found, if its float ties get other levels.

    Args:
        network: It.
        sample: In the network's shape.
        found: Its outputs, flat, one behind the other.
    """
    wrapper = network.wrapper().transform(InferShapes())
    outputs, at = {}, 0
    for value in wrapper.graph.output:
        shape = tuple(wrapper.get_tensor_shape(value.name))
        outputs[value.name] = found.reshape(-1)[at : at + int(np.prod(shape))].reshape(shape)
        at += int(np.prod(shape))
    return not TieSearch(FloatNetwork(wrapper), {"x": sample}).explain(outputs, None).wrong


def undecided(model: ModelProto, sample: np.ndarray) -> bool:
    """Tell whether rounding decides a level, in the network's own sums."""
    network = FloatNetwork(ModelWrapper(model, make_deepcopy=True).transform(InferShapes()))
    found = []

    def decide(quantiser, given, own):
        found.extend(undecided_levels(quantiser, own))
        return own.value

    network.follow({"x": sample}, decide)
    return bool(found)
