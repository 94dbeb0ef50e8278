"""The signature of a model, from what is known of its tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith.execution.signature import ModelSignature, TensorSpec
from brainsmith.graph.ends import input_values
from brainsmith.graph.model_facts import ModelFacts

if TYPE_CHECKING:
    from qonnx.core.modelwrapper import ModelWrapper


def signature_of(model: ModelWrapper, facts: ModelFacts | None = None) -> ModelSignature:
    """Return the inputs of a model that are no constants, and its outputs.

    Args:
        model: Its shapes are known.
        facts: What is known of its tensors; None for what the graph states.
    """
    known = facts or ModelFacts(model, {})
    inputs, outputs = input_values(model.graph), model.graph.output
    return ModelSignature(
        tuple(spec_of(known, value.name) for value in inputs),
        tuple(spec_of(known, value.name) for value in outputs),
    )


def spec_of(facts: ModelFacts, name: str) -> TensorSpec:
    """Return what is known of a tensor; it is passed in float32 where its NumPy type is not stated."""
    return TensorSpec(name, facts.shape(name) or (), facts.dtype(name).name, facts.datatype(name).name)
