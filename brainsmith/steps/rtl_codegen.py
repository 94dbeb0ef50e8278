"""rtl_codegen: generate the RTL of every layer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from brainsmith.plugin.core import step
from brainsmith.steps.converters import choose_converters
from brainsmith.steps.host_ends import without_host_ends

if TYPE_CHECKING:
    from qonnx.core.modelwrapper import ModelWrapper

FOLDER = "rtl/layers"
"""Of the generated code, in the output folder: one folder for each layer."""


@step(description="Insert width converters and generate the RTL of every layer")
def rtl_codegen(model: ModelWrapper, cfg: Any) -> ModelWrapper:
    """Let FINN generate all layers below `rtl/layers` in `cfg.output_dir`; no vendor tool is needed.

    A converter is inserted wherever two layers differ in the values that a beat holds. Its backend is that which
    `cfg.kernel_preferences` names for its kernel, `StreamingDataWidthConverter`, else the first that fits. The nodes
    then say where their code is (`code_gen_dir_ipgen`, `gen_top_module`), as after FINN's own step_hw_codegen. Nodes of
    the host before the first and after the last layer are cut off (`intermediate_models/dataflow_parent.onnx` has them).

    Raises:
        BuildError: A layer has no RTL, feeds several others, needs a second clock, or has a folding that gives wrong
            results. All of a kind are named, with what to do; nothing was generated.
    """
    from brainsmith.rtl.stitching.codegen import generate_layers

    folder = Path(cfg.output_dir).absolute() / FOLDER
    return generate_layers(
        without_host_ends(model, cfg),
        folder,
        cfg._resolve_fpga_part(),
        cfg.synth_clk_period_ns,
        choose=lambda inserted: choose_converters(inserted, cfg),
    )
