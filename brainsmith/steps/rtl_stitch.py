"""rtl_stitch: connect the layers to one design with AXI streams at its ends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brainsmith.plugin.core import step
from brainsmith.steps.design_files import hand_over

if TYPE_CHECKING:
    from qonnx.core.modelwrapper import ModelWrapper


@step(description="Connect the layers to one design with AXI streams at its ends")
def rtl_stitch(model: ModelWrapper, cfg: Any) -> ModelWrapper:
    """Write the design to `rtl/design` in `cfg.output_dir`: sources, memory contents, `filelist.f`, `design.json`.

    Its streams are plain connections; rtl_size_fifos puts FIFOs into them. The model's metadata gets the design's
    digest, by which later steps know that the files are those of their model.

    Raises:
        BuildError: A layer has no generated code, or cannot be connected.
        OutputError: The output folder cannot be written.
        RtlSourceError: FINN's RTL library is not what the rules for open tools expect.
    """
    from brainsmith.rtl.stitching.stitch import stitch

    return hand_over(model, cfg, stitch(model))
