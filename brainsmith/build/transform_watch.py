"""Every transform that runs in a step of a build ends, and leaves a graph that is one; the one that does not is named.

FINN's and QONNX's steps apply transforms themselves, so the place to watch them is QONNX's own loop. Outside of a
build nothing changes: the loop looks for a watch of its own thread, and finds none.
"""

from __future__ import annotations

import functools
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from brainsmith.build.rearrangements import FAILURES, left_out
from brainsmith.build.tensor_facts import TensorFacts
from brainsmith.errors import BuildError
from brainsmith.figures import listed, plural
from brainsmith.graph.node_names import make_names_unique
from brainsmith.graph.well_formed import node_text, structure_fault

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.build.lineage import Lineage

PASSES = 100
"""How often a transform may be applied again because it says that it changed the graph."""
_RENAMED = ("qonnx", "finn")


@dataclass
class _WatchedStep:
    """A step whose transforms are watched.

    Attributes:
        passes: How many each may take; None for the default.
        lineage: Follows the models.
        depth: How many transforms have begun and not ended.
    """

    passes: int | None
    lineage: Lineage | None
    depth: int = 0


_step: ContextVar[_WatchedStep | None] = ContextVar("step", default=None)
"""What this thread runs; None where no step runs."""


@contextmanager
def transforms_watched(passes: int | None = None, lineage: Lineage | None = None) -> Iterator[None]:
    """Watch the transforms that this thread applies in the body.

    Args:
        passes: How many each may take; by default 100, or as many as the graph has nodes where those are more:
            there are transforms that change one place in a pass.
        lineage: Notes what each makes of which model, those that another applies left out.
    """
    _watch_the_loop()
    token = _step.set(_WatchedStep(passes, lineage))
    try:
        yield
    finally:
        _step.reset(token)


def _watch_the_loop() -> None:
    """Put the watch around `ModelWrapper.transform`, once in a process."""
    from qonnx.core.modelwrapper import ModelWrapper

    original = ModelWrapper.transform
    if hasattr(original, "watched"):
        return

    @functools.wraps(original)
    def transform(
        self: ModelWrapper, transformation: Any, make_deepcopy: bool = True, *args: Any, **keywords: Any
    ) -> Any:
        step = _step.get()
        if step is None:
            return original(self, transformation, make_deepcopy, *args, **keywords)
        if isinstance(transformation, _Watched):  # of a graph inside of a node
            transformation = transformation.transform
        watched = _Watched(transformation, step.passes or max(PASSES, len(self.graph.node)))
        step.depth += 1
        try:
            result = original(self, watched, make_deepcopy, *args, **keywords)
        except Exception as error:
            if fault := watched.fault_left():
                raise BuildError(f"transform '{watched.name}' left a broken graph: {fault}") from error
            may_go_without = make_deepcopy and isinstance(error, FAILURES)
            as_it_was = left_out(transformation, error, self) if may_go_without else None
            if as_it_was is None:
                raise
            result = as_it_was
        finally:
            step.depth -= 1
        facts = TensorFacts(result.graph)
        within = step.depth and (not make_deepcopy or structure_fault(self.graph))
        # A broken graph may be the doing of the transform around this one, which has not finished yet.
        if structure_fault(facts) and not within:
            fault = well_formed_fault(facts, type(transformation).__module__)
            if fault:
                raise BuildError(f"transform '{watched.name}' left a broken graph: {fault}")
        if not step.depth and step.lineage is not None:
            step.lineage.note(self, result, watched.name, facts)
        return result

    transform.watched = True  # type: ignore[attr-defined]
    ModelWrapper.transform = transform


def well_formed_fault(facts: TensorFacts, module: str) -> str:
    """Return what is wrong with the structure of a graph; nothing if it is well formed.

    Args:
        facts: Of an ONNX graph. Where QONNX or FINN gave a name to two nodes, the second is renamed: their copies of
            nodes keep the name, until all nodes are named anew a few transforms later.
        module: Whose code left it.
    """
    fault = structure_fault(facts)
    if fault and module.startswith(_RENAMED) and make_names_unique(facts.graph):
        fault = structure_fault(facts)
    return fault


class _Watched:
    """Applies a transform, counts, and says what is wrong with what it returns before QONNX fails at it."""

    def __init__(self, transform: Any, limit: int) -> None:
        self.transform = transform
        self.name = type(transform).__name__
        self._limit = limit
        self._passes = 0
        self._left: Any = None  # the last model that it returned; None while it is applied

    def fault_left(self) -> str:
        """Return what is wrong with the graph that it has left, at which QONNX's clean-up may have failed."""
        if self._left is None:
            return ""
        return well_formed_fault(TensorFacts(self._left.graph), type(self.transform).__module__)

    def apply(self, model: Any) -> tuple[Any, bool]:
        """Return the model, and whether the transform must be applied again."""
        self._passes, self._left = self._passes + 1, None
        before = _contents(model) if self._passes == self._limit else None
        result = self.transform.apply(model)
        if not isinstance(result, tuple) or len(result) != 2 or not hasattr(result[0], "graph"):
            parts = result if isinstance(result, tuple) and len(result) == 2 else ()
            found = f"({', '.join(type(one).__name__ for one in parts)})" if parts else type(result).__name__
            raise BuildError(
                f"apply() must return (model, graph_modified), not {found}; "
                "graph_modified says whether it must be applied again"
            )
        if before is not None and result[1]:
            raise BuildError(
                f"transform '{self.name}' asks to be applied again after {plural(self._limit, 'pass', 'passes')}. "
                f"In the last one it {_difference(before, _contents(result[0]))}. `apply` must return False as second "
                f"value once it changes nothing more; if it needs more passes: {{transform: {self.name}, passes: NUMBER}}"
            )
        self._left = result[0]
        return result[0], result[1]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.transform, name)


def _contents(model: Any) -> dict[str, bytes]:
    """Return all that a graph holds, by what messages call it."""
    graph = model.graph
    values = (*graph.input, *graph.output, *graph.value_info)
    annotations = graph.quantization_annotation
    named: list[tuple[str, Any]] = [(node_text(node), node) for node in graph.node]
    named += [(f"constant '{each.name}'", each) for each in graph.initializer]
    named += [(f"tensor '{each.name}'", each) for each in values]
    named += [(f"the datatype or layout of tensor '{each.tensor_name}'", each) for each in annotations]
    return {name: each.SerializeToString(deterministic=True) for name, each in named}


def _difference(before: dict[str, bytes], after: dict[str, bytes]) -> str:
    changes = (
        ("added", [name for name in after if name not in before]),
        ("removed", [name for name in before if name not in after]),
        ("changed", [name for name, data in after.items() if before.get(name, data) != data]),
    )
    said = [f"{verb} {listed(names)}" for verb, names in changes if names]
    return ", ".join(said) or "changed nothing"
