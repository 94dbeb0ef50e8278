"""The design between the RTL steps of a build: files in the output folder, and their digest in the model.

A step's result is kept under a key of the model that goes in. The digest in the model's metadata makes the design
part of that key, and tells a step that the files are those of its model.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from brainsmith.errors import BuildError

if TYPE_CHECKING:
    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.rtl.stitching.design import Design

FOLDER = "rtl/design"
"""Of the design, in the output folder."""

PROPERTY = "brainsmith_design"
"""Of the model: the design's digest."""


def hand_over(model: ModelWrapper, cfg: Any, design: Design) -> ModelWrapper:
    """Write a design for the steps that follow, in place of an earlier one, and note it in the model.

    Raises:
        OutputError: The output folder cannot be written.
    """
    from brainsmith.rtl.stitching.design_folder import write_design

    write_design(design, Path(cfg.output_dir) / FOLDER)
    model.set_metadata_prop(PROPERTY, design.digest())
    return model


def take_design(model: ModelWrapper, cfg: Any) -> Design:
    """Return the design of a model.

    Raises:
        BuildError: None was made, or the files are not those of the model.
    """
    from brainsmith.rtl.stitching.design_folder import read_design

    digest = model.get_metadata_prop(PROPERTY)
    if digest is None:
        raise BuildError("the model has no stitched design: run the step rtl_stitch first")
    folder = Path(cfg.output_dir) / FOLDER
    design = read_design(folder)
    if design.digest() != digest:
        raise BuildError(
            f"{folder} holds the design of another model, or was changed: run the step rtl_stitch again"
        )
    return design
