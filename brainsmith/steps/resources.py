"""What a layer needs of the part, before any synthesis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from qonnx.core.modelwrapper import ModelWrapper

RESOURCES = {"lut": "LUT", "ff": "FF", "bram18": "BRAM_18K", "dsp": "DSP", "uram": "URAM"}
"""What reports call them, and what FINN does, which does not estimate flip-flops."""


def estimated_resources(layer: Any, part: str, model: ModelWrapper) -> dict[str, int | None]:
    """Return the estimate of one layer by `RESOURCES`; None of those that there is no model of.

    A backend of this project, or of a package, states what it needs; of FINN's RTL layers there are models that were
    calibrated against Yosys; what FINN itself says is left for all others, whose 0 LUTs say that it has no model. Of a
    backend that states that there is no formula, nothing is known.

    Args:
        layer: QONNX's instance of the node.
        part: The FPGA.
        model: Holds the layer's constants.

    Raises:
        BuildError: The part is of no known family.
    """
    from brainsmith.rtl.resource_models.layer_needs import layer_needs

    foretold = layer_needs(layer, part, model)
    if foretold is not None:
        return {name: int(value) for name, value in foretold._asdict().items()}
    if hasattr(layer, "core_resources"):
        return dict.fromkeys(RESOURCES)
    used = layer.node_res_estimation(part)
    found: dict[str, int | None] = {name: round(float(used.get(key, 0))) for name, key in RESOURCES.items()}
    return found | {"lut": found["lut"] or None, "ff": None}


def resources_of_fifos(fifos: NDArray[np.int64], part: str) -> dict[str, int]:
    """Return what FIFOs take together, by `RESOURCES`.

    Args:
        fifos: The depth of each in beats, and the bits of a beat, (fifos, 2).
        part: The FPGA.
    """
    from brainsmith.rtl.resource_models.layer_needs import fifo_needs

    found = fifo_needs(fifos[:, 0], fifos[:, 1], part)
    return {name: int(getattr(found, name).sum()) for name in RESOURCES}
