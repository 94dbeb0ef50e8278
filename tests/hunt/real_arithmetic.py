"""Tell a sample in which float32's rounding decides what a quantiser or an arg-max gives, with the build's own bounds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from onnx import ModelProto
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.transformation.infer_shapes import InferShapes

from brainsmith.comparison.float_ties.float_network import FloatNetwork
from brainsmith.comparison.float_ties.layer_levels import LayerLevels
from brainsmith.comparison.float_ties.tie_search import TieSearch, undecided_levels
from brainsmith.transforms.integer.batch_of_one import with_batch_of_one
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


class IntegerLevels:
    """The levels that a build's layers of integers gave, beside the network that they were made of.

    Args:
        checkpoints: The models that a build left after its steps.
    """

    def __init__(self, checkpoints: Path) -> None:
        files = sorted(checkpoints.glob("*.onnx"))
        (at,) = (at for at, file in enumerate(files) if file.stem.endswith("_integer"))
        self._network = FloatNetwork(with_batch_of_one(ModelWrapper(str(files[at - 1])))[0])
        self._levels = LayerLevels(ModelWrapper(str(files[at])))

    def explain(self, sample: np.ndarray, found: np.ndarray) -> bool:
        """Tell whether a sample's outputs are the network's, if the levels that differ by float ties are the layers'.

        Args:
            sample: In the network's shape.
            found: Its outputs, flat, one behind the other.
        """
        (name,) = (spec.name for spec in self._network.signature.inputs)
        shape = tuple(self._network.signature.inputs[0].shape)
        feed = sample.reshape(-1, *shape)
        outputs, at = {}, 0
        for spec in self._network.signature.outputs:
            size = len(feed) * int(np.prod(spec.shape))
            outputs[spec.name] = found[at : at + size].reshape(len(feed), *spec.shape)
            at += size
        return not any(each.wrong for each in self._levels.explain(self._network, {name: feed}, outputs))


def undecided(model: ModelProto, sample: np.ndarray) -> bool:
    """Tell whether rounding decides a level, in the network's own sums."""
    network = FloatNetwork(ModelWrapper(model, make_deepcopy=True).transform(InferShapes()))
    found = []

    def decide(quantiser, given, own):
        found.extend(undecided_levels(quantiser, own))
        return own.value

    network.follow({"x": sample}, decide)
    return bool(found)
