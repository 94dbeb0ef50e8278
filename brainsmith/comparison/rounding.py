"""Whether a difference is one of rounding alone: a float that is right lies beside a quantiser's threshold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.comparison.tensors import errors_of, tolerance_of
from brainsmith.execution.fallback.node_runners import make_runner
from brainsmith.execution.read_model import read_model

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.comparison.tensors import Difference
    from brainsmith.graph.array_types import Array


ROUNDING = ("Ceil", "Floor", "Round", "Quant", "IntQuant", "BipolarQuant", "MultiThreshold")
"""Operators that give each value of their first input a level, by itself."""


def rounding_explained(
    model: Any,
    one: Difference,
    expected: Mapping[str, Array],
    found: Mapping[str, Array],
    tolerance: float,
) -> str:
    """Return a sentence if a tensor differs because floats that agree were rounded to other levels; else nothing.

    That is certain where a rounding operator computes it, what both targets have before it agrees within the
    tolerance, and the operator itself, computed here, makes of each the value that its target has.

    Args:
        model: Which computes the tensor; no folder.
        one: How the tensor differs.
        expected: Tensors of the first target.
        found: Of the second one.
        tolerance: The share of a tensor's largest magnitude by which floats may differ.

    Raises:
        ModelError: The model cannot be read.
    """
    graph = read_model(model)
    node = next((node for node in graph.graph.node if one.tensor in node.output), None)
    if node is None or node.op_type not in ROUNDING or not one.index:
        return ""
    name, levels = node.input[0], (expected[one.tensor], found[one.tensor])
    right, given = expected.get(name), found.get(name)
    if right is None or given is None or not right.shape == given.shape == levels[0].shape:
        return ""
    changed = errors_of(*levels) > one.tolerance
    allowed = tolerance_of(right, given, tolerance, integer=False)
    if errors_of(right, given).max() > allowed or not all(
        np.allclose(_rounded(graph, node, array, expected)[changed], level[changed], rtol=1e-6, atol=0)
        for array, level in zip((right, given), levels, strict=True)
    ):
        return ""
    values = f"{float(given[one.index]):.9g}, not {float(right[one.index]):.9g}"
    return (
        f"the floats before it agree within the tolerance: '{name}' is {values}, which is rounded to another level, "
        f"as in {int(changed.sum()):,} of {changed.size:,} values{_allowance(one, tolerance)}"
    )


def _rounded(model: ModelWrapper, node: Any, array: Array, others: Mapping[str, Array]) -> Array:
    """Compute a rounding operator, with all runs in the first axis."""
    values: dict[str, Any] = {name: model.get_initializer(name) for name in node.input[1:]}
    values = {name: others.get(name) if value is None else value for name, value in values.items()}
    if any(value is None for value in values.values()):
        return np.full_like(array, np.nan)
    return make_runner(model, node, {}).once({**values, node.input[0]: array})[node.output[0]]


def _allowance(one: Difference, tolerance: float) -> str:
    """Return which tolerance would allow a difference of floats; nothing where integers must be equal."""
    if not one.tolerance:
        return ""
    needed = one.error / one.tolerance * tolerance
    return f"; --tolerance {needed * 1.1:.1e} allows it"
