"""Which transform of a step lost what: the models of a step, each with the one that it was made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.build.tensor_facts import TensorFacts

    Lacking = Mapping[tuple[str, str], str]


@dataclass(frozen=True)
class _Made:
    """A model of a step.

    Attributes:
        transform: What made it; empty for the one that the step was given.
        before: What it was made of; None if that is not known.
        lacking: What it lacks.
    """

    transform: str
    before: _Made | None
    lacking: Callable[[], Lacking]


class Lineage:
    """Follows the models of a step from transform to transform.

    Models that a step makes beside its result, to look something up or of a part of the graph, have lines of their own.
    Transforms that another one applies are that one's work.

    Args:
        given: The model that the step is given.
        lacking: Returns what that lacked (`TensorFacts.lacking`).
    """

    def __init__(self, given: ModelWrapper, lacking: Callable[[], Lacking]) -> None:
        self._made: WeakKeyDictionary[ModelWrapper, _Made] = WeakKeyDictionary()
        self._made[given] = _Made("", None, lacking)

    def note(self, before: ModelWrapper, after: ModelWrapper, transform: str, facts: TensorFacts) -> None:
        """Note that a transform made a model of another, which may be the same object, and what is known of its graph."""
        lacking = facts.lacking()
        self._made[after] = _Made(transform, self._made.get(before), lambda: lacking)

    def culprit(self, model: ModelWrapper, lacking: Lacking, what: tuple[str, str]) -> str:
        """Return the transform that lost what a model lacks; empty if it was the step itself, or if it is not known.

        A tensor that a transform renamed is found by the type of the node that gives it: where more of that type lack
        it after a transform than before, that transform lost it.

        Args:
            model: What the step returned.
            lacking: What that lacks.
            what: One key of that.
        """
        giver = lacking[what]
        renamed, found = False, []
        transform, made = "", self._made.get(model)
        while made is not None:
            earlier = made.lacking()
            renamed = renamed or earlier.get(what) != giver
            if _count(what[0], giver, lacking) > _count(what[0], giver, earlier):
                if renamed:
                    return transform
                found.append(transform)  # unless an earlier one lost it under this name
            transform, lacking, made = made.transform, earlier, made.before
        return found[0] if found else ""


def _count(kind: str, giver: str, lacking: Lacking) -> int:
    """Count the tensors that lack a shape or datatype and come from a node of a type."""
    return sum(value == giver and key[0] == kind for key, value in lacking.items())
