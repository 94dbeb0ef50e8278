"""Rearrangements of FINN's and QONNX's that fail on a form of graph which they did not expect are left out.

Streamlining and the conversion to hardware layers are made of transforms each of which moves or converts what it knows,
and leaves the rest: leaving one out changes nothing of what the model computes, and what then is no hardware layer is
refused later, with its name. Some fail where a tensor is the graph's input, a constant, or read twice. Such a failure is
theirs, not the model's.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from brainsmith.build.failing_node import failing_node

if TYPE_CHECKING:
    from qonnx.core.modelwrapper import ModelWrapper

LOGGER = logging.getLogger(__name__)

_REARRANGING = (
    "finn.transformation.streamline",
    "finn.transformation.fpgadataflow.convert_to_hw",
    "qonnx.transformation.lower_convs_to_matmul",
    "qonnx.transformation.change_",
    "qonnx.transformation.extract_",
)
"""Where transforms are defined that may be left out."""

FAILURES = (AttributeError, LookupError, TypeError)
"""What nobody raises on purpose about a model."""


def left_out(transform: Any, error: Exception, model: ModelWrapper) -> ModelWrapper | None:
    """Return the model as it was before a rearrangement that failed; None if the failure counts.

    Args:
        transform: What failed.
        error: One of `FAILURES`.
        model: What it was applied to a copy of.
    """
    module = type(transform).__module__
    if not module.startswith(_REARRANGING):
        return None
    LOGGER.warning(
        "%s's %s was left out, because it failed%s: %s: %s",
        "FINN" if module.startswith("finn") else "QONNX",
        type(transform).__name__,
        failing_node(error),
        type(error).__name__,
        error,
    )
    return type(model)(model.model, make_deepcopy=True)
