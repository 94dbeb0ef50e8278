"""What the example networks cost, and what they compute, with the step `integer` and with FINN's front end."""

from __future__ import annotations

import contextlib
import logging
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from measure import ROOT

EXAMPLES = {
    "digits/mlp": "digits_mlp_rtl",
    "digits/cnn": "digits_cnn_rtl",
    "digits/residual": "digits_residual_rtl",
    "digits/binary_mlp": "digits_binary_mlp_rtl",
    "encoder/encoder": "encoder_rtl",
}
"""The blueprint of each."""

ORDERS = {
    "integer": ("cleanup", "integer", "hardware_inference", "specialize", "fold", "estimate"),
    "finn": (
        "cleanup",
        "qonnx_to_finn",
        "streamline",
        "hardware_inference",
        "specialize",
        "fold",
        "estimate",
    ),
}


@dataclass(frozen=True)
class Costs:
    """What one build came to.

    Attributes:
        lut: Estimated.
        cycles: Of a frame, estimated.
        classes: That the hardware layers give to the example's own samples.
    """

    lut: float
    cycles: int
    classes: np.ndarray[Any, Any]


def costs_of(name: str, order: str, folder: Path) -> Costs:
    """Build an example to estimates in one of the orders, and run it."""
    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.build import build
    from brainsmith.build.output_comparison import predictions
    from brainsmith.execution.execute import Executor
    from brainsmith.plugins import steps

    logging.disable(logging.WARNING)
    blueprint = ROOT / "blueprints" / f"{EXAMPLES[name]}.yaml"
    samples = np.load(_samples(blueprint)).astype(np.float32)
    with contextlib.redirect_stdout(None), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        chosen = [steps[each] for each in ORDERS[order]]
        result = build(
            ROOT / "examples" / f"{name}.onnx", blueprint, folder, steps=chosen, report=False, use_cache=False
        )
    executor = Executor(ModelWrapper(str(result.model)))
    shape = executor.shape(executor.inputs[0])
    found = executor.run({executor.inputs[0]: samples.reshape(-1, *shape)})[executor.outputs[0]]
    estimate = result.report["estimate"]
    return Costs(estimate["lut"], estimate["interval_cycles"], predictions(found))


def _samples(blueprint: Path) -> Path:
    """Return the file that a blueprint verifies with."""
    line = next(each for each in blueprint.read_text().splitlines() if each.strip().startswith("inputs:"))
    return blueprint.parent / line.split(":")[1].strip()
