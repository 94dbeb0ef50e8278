"""How far a model's outputs are from those of a float model of the same network: reported, never checked."""

from __future__ import annotations

import numpy as np

from brainsmith.build.output_comparison import predictions
from brainsmith.graph.array_types import Array
from brainsmith.web.step_result import FloatDistance


def float_distance(floats: Array, classes: Array, outputs: Array | None) -> FloatDistance:
    """Compare a model with the float one.

    Args:
        floats: (samples, values), the float model's first output.
        classes: (samples,), the class that the model gives to each.
        outputs: (samples, ...), the model's first output; None where it is class numbers.
    """
    agreement = float(np.mean(predictions(floats) == classes))
    if outputs is None:
        return FloatDistance(agreement, None, None)
    errors = np.abs(outputs.reshape(len(floats), -1).astype(np.float64) - floats)
    return FloatDistance(agreement, float(errors.max()), float(errors.mean()))


def float_accuracy(floats: Array, labels: Array | None) -> float | None:
    """Return the float model's share of right classes; None without labels."""
    return None if labels is None else float(np.mean(predictions(floats) == labels))
