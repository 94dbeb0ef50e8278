"""Shapes and datatypes that a step lost: they are inferred again, and the build says so.

A tensor without a shape fails somewhere later, and one without a datatype counts as a float, which costs a circuit
its integers without a message. Steps rename, fuse and replace, so names
do not tell what was lost; `lost_datatypes.py` does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith.build.artifact import Artifact
from brainsmith.build.lineage import Lineage
from brainsmith.build.lost_datatypes import (
    lost_ends,
    lost_without_rule,
    not_lacking,
)
from brainsmith.build.tensor_facts import DATATYPE, SHAPE, TensorFacts, following
from brainsmith.figures import listed
from brainsmith.forks import cached_property

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.build.lineage import Lacking


class KnownFacts:
    """What was known of a graph before a step.

    Args:
        artifact: The model that the step is given. The step may change its graph; its bytes stay.
        facts: Of its graph, where they were read already.

    Attributes:
        lineage: Follows what the step's transforms make of the model.
        after: The facts of what the step returned, once `restore` looked at it; None if it lost something.
    """

    def __init__(self, artifact: Artifact, facts: TensorFacts | None = None) -> None:
        facts = facts or TensorFacts(artifact.peek().graph)
        self._data = artifact.data
        self._shaped = not facts.unshaped
        facts.datatypes = facts.stated  # inference may have added to them
        self._datatypes = facts.stated
        self._ends = facts.ends
        self._outputs = facts.stated.keys() - self._ends.keys()
        self._untyped = {facts.content(at) for at, _ in facts.untyped()} if self._outputs else set()
        self.after: TensorFacts | None = None
        self.lineage = Lineage(artifact.peek(), lambda: TensorFacts(self._given.graph).lacking())

    @cached_property
    def _given(self) -> ModelWrapper:
        """The model before the step, opened again: only if something was lost."""
        return Artifact(self._data).peek()

    def restore(self, model: ModelWrapper, facts: TensorFacts | None = None) -> list[str]:
        """Infer what a step lost, and write it into the model.

        Args:
            model: What the step returned.
            facts: Of its graph, if they were read already.

        Returns:
            What was lost, by which transform, and whether it could be inferred: a line each.
        """
        facts = facts or TensorFacts(model.graph)
        unshaped = facts.unshaped if self._shaped else []
        unknown = _infer_shapes(model, unshaped) if unshaped else []
        found, floats = self._restore_datatypes(model, facts) if self._datatypes else ({}, {})
        lost = (
            (SHAPE, "were inferred again", {name: "" for name in unshaped if name not in unknown}),
            (SHAPE, "cannot be inferred", dict.fromkeys(unknown, "")),
            (DATATYPE, "were inferred again", found),
            (DATATYPE, "cannot be inferred: these tensors count as floats", dict.fromkeys(floats, "")),
        )
        if not any(tensors for _, _, tensors in lost):
            self.after = facts
            return []
        lacking = facts.lacking()
        return [
            line
            for kind, ending, tensors in lost
            for line in self._lines(model, lacking, kind, ending, tensors)
        ]

    def _lines(
        self, model: ModelWrapper, lacking: Lacking, kind: str, ending: str, tensors: Mapping[str, str]
    ) -> list[str]:
        """Return a sentence for each transform that lost some of these tensors' shapes or datatypes."""
        lost_by: dict[str, list[str]] = {}
        for name, datatype in tensors.items():
            transform = self.lineage.culprit(model, lacking, (kind, name))
            by = f" by transform '{transform}'" if transform else ""
            lost_by.setdefault(by, []).append(f"'{name}'" + (f" ({datatype})" if datatype else ""))
        return [
            f"the {kind}s of {listed(shown)} were lost{by}, and {ending}" for by, shown in lost_by.items()
        ]

    def _restore_datatypes(
        self, model: ModelWrapper, facts: TensorFacts
    ) -> tuple[dict[str, str], dict[str, str]]:
        """Write the datatypes that were lost and are known, and return them, and those that cannot be inferred."""
        found: dict[str, str] = {}
        unknown: dict[str, str] = {}
        if facts.ends != self._ends:
            found = lost_ends(TensorFacts(self._given.graph), facts)
            facts.datatypes = facts.datatypes | found
        if self._outputs:  # of a graph that states none, none can be lost
            outputs, unknown = self._lost_outputs(model, facts)
            found |= outputs
        if found:
            from qonnx.core.datatype import DataType

            for name, datatype in found.items():
                model.set_tensor_datatype(name, DataType[datatype])
        return found, unknown

    def _lost_outputs(self, model: ModelWrapper, facts: TensorFacts) -> tuple[dict[str, str], dict[str, str]]:
        """Return the datatypes of nodes' outputs that follow from the rest, and those that do not."""
        found, floats = following(model, facts, self._untyped)
        found = not_lacking(found, facts, self._given) if found else {}
        unknown: dict[str, str] = {}
        while floats:
            lost = lost_without_rule(floats, TensorFacts(self._given.graph), facts)
            if not lost:
                break
            facts.datatypes = facts.datatypes | lost
            behind, floats = following(model, facts, self._untyped)
            unknown |= lost | not_lacking(behind, facts, self._given)
        return found, unknown


def _infer_shapes(model: ModelWrapper, unshaped: Iterable[str]) -> list[str]:
    """Infer the shapes of these tensors, and return those that cannot be inferred."""
    from qonnx.transformation.infer_shapes import InferShapes

    inferred = model.transform(InferShapes())
    for name in unshaped:
        shape = inferred.get_tensor_shape(name)
        if shape is not None:
            model.set_tensor_shape(name, shape)
    return TensorFacts(model.graph).unshaped
