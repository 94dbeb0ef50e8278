"""One small accelerator and its package, for all tests: a matrix-vector layer with weights."""

from dataclasses import dataclass

import numpy as np

from brainsmith.plugin.adapters.finn_runtime import prepare_finn
from brainsmith.rtl.package.contents import PackageFacts
from brainsmith.rtl.package.frame_order import FrameOrder
from brainsmith.rtl.package.pack import write_package
from brainsmith.rtl.stitching.codegen import generate_layers
from brainsmith.rtl.stitching.design import Design
from brainsmith.rtl.stitching.stitch import stitch

FRAMES = 8
PART = "xczu7ev-ffvc1156-2-e"
ORDER = FrameOrder((24, 4), (1, 0))
"""How the frames of the network lie, from which the layer's are said to come: channels first."""


@dataclass
class Small:
    """A design, with golden vectors by stream."""

    design: Design
    golden: dict[str, np.ndarray]

    def facts(self, **others):
        known = {"golden_from": "random inputs", "orders": {"s_axis_0": ORDER}} | others
        return PackageFacts(PART, 5.0, **known)

    def write(self, folder, **facts):
        return write_package(self.design, folder, self.golden, self.facts(**facts))


def make_small(folder):
    """Make the design; its code lies below a folder that may go."""
    prepare_finn()
    from tests.rtl import finn_layers

    layer = finn_layers.matrix_vector(
        folder / "layer", np.random.default_rng(1), mem_mode="internal_decoupled"
    )
    design = stitch(generate_layers(layer.model, folder / "code", PART)).with_depths({"s_axis_0": 8})
    inputs = layer.random_input(np.random.default_rng(2), FRAMES)
    return Small(design, {"s_axis_0": inputs, "m_axis_0": layer.expected(inputs)})
