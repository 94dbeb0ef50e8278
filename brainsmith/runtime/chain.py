"""Several stages, one after the other, executed like one: pre-processing, inference, post-processing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.errors import InputError, TargetError
from brainsmith.runtime.prepared import Prepared
from brainsmith.runtime.target_calls import execute_prepared

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from brainsmith.execution.signature import ModelSignature, TensorSpec
    from brainsmith.runtime.target_calls import Outputs


@dataclass(frozen=True)
class Stage:
    """A model in a chain, and where it runs.

    Attributes:
        resource: What `prepare_resource` takes.
        device: A device's name; the manager's active target by default.
        config: The target's own choices.
        inputs: Where its inputs come from, by their names: an output of any stage before, or an input of the chain.
    """

    resource: Any
    device: str | None = None
    config: Mapping[str, Any] | None = None
    inputs: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class _Link:
    """One stage, ready: a prepared resource or a function, and what to call what it is given."""

    run: Prepared | Callable[[Any], Any]
    inputs: Mapping[str, str]

    @property
    def signature(self) -> ModelSignature | None:
        """The inputs and outputs of a resource; None of a function, and of a target that does not say."""
        return self.run.signature if isinstance(self.run, Prepared) else None

    @property
    def sources(self) -> dict[str, str]:
        """The tensor that each input comes from; none where the inputs are not known."""
        specs = self.signature.inputs if self.signature is not None else ()
        return {spec.name: self.inputs.get(spec.name, spec.name) for spec in specs}

    def __str__(self) -> str:
        if isinstance(self.run, Prepared):
            return self.run.resource
        return getattr(self.run, "__name__", "a function")


_Tensors = tuple[Mapping[str, Any], Mapping[str, Any]]
"""What a chain was given by name, and what its stages made so far."""


class Chain:
    """Prepared resources and functions, one after the other; a manager makes it (`prepare_chain`).

    A resource takes each of its inputs from where its stage says; else from the tensor of that name that a stage made,
    the latest first, or that the chain was given; but if no stage made one of these names, and it has as many inputs as
    the stage before gives tensors, from those in their order. A function takes what the stage before gives: an array if
    that is one, else a table; it returns an array or a table of arrays.

    Raises:
        TargetError: There is no stage, or a resource cannot take what the one before it gives.
    """

    def __init__(self, stages: Sequence[tuple[Prepared | Callable[[Any], Any], Mapping[str, str]]]) -> None:
        if not stages:
            raise TargetError("a chain needs at least one stage")
        self._links = tuple(_Link(run, inputs) for run, inputs in stages)
        for number, (before, after) in enumerate(zip(self._links, self._links[1:], strict=False), 2):
            _check_fit(number, before, after)

    def execute(self, inputs: Any, **kwargs: Any) -> Outputs:
        """Execute all stages, each on the target that it was prepared for.

        Args:
            inputs: What the first stage takes, and by name what later ones take of the chain.
            **kwargs: For the last stage, if it is a resource.

        Returns:
            What the last stage gives; an array that a function returns is called `output`.

        Raises:
            InputError: The inputs are not those of a stage; it is named.
            TargetError: A target failed, or a function returned no tensors.
        """
        given = self._named(inputs)
        chain: dict[str, Any] = dict(given) if isinstance(given, Mapping) else {}
        made: dict[str, Any] = {}
        last = self._links[-1]
        for number, link in enumerate(self._links, 1):
            own = kwargs if link is last else {}
            given = self._run(number, link, given, (chain, made), own)
            made.update(given)
        return dict(given)

    def _named(self, inputs: Any) -> Any:
        """Return an array that is given alone by the name under which the first stage takes it."""
        sources = list(self._links[0].sources.values())
        return {sources[0]: inputs} if len(sources) == 1 and not isinstance(inputs, Mapping) else inputs

    def _first(self, given: Any) -> Any:
        """Return the inputs of the first stage; with a name that no stage takes, which its signature then tells."""
        if not isinstance(given, Mapping) or self._links[0].signature is None:
            return given
        sources = [link.sources for link in self._links]
        taken = {source for of_one in sources for source in of_one.values()}
        unknown = {name: value for name, value in given.items() if name not in taken}
        own = {name: given[source] for name, source in sources[0].items() if source in given}
        return {**own, **unknown}

    def _run(
        self, number: int, link: _Link, given: Any, tensors: _Tensors, kwargs: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        if not isinstance(link.run, Prepared):
            alone = isinstance(given, Mapping) and len(given) == 1
            return _tensors(number, link, link.run(next(iter(given.values())) if alone else given))
        feed = self._first(given) if number == 1 else _feed(link, given, tensors)
        try:
            return execute_prepared(link.run, feed, kwargs)
        except InputError as error:
            raise InputError(f"stage {number} of the chain ({link}): {error}") from error

    def __len__(self) -> int:
        return len(self._links)

    def __repr__(self) -> str:
        return f"<chain {' -> '.join(map(str, self._links))}>"


def make_chain(stages: Iterable[Any], prepare: Callable[[Any, Any, str | None], Prepared]) -> Chain:
    """Make a chain, with every stage prepared.

    Args:
        stages: Each a `Stage`, a prepared resource, a function, or what `prepare` takes.
        prepare: Prepares a resource with a configuration on a device.
    """
    links: list[tuple[Prepared | Callable[[Any], Any], Mapping[str, str]]] = []
    for stage in stages:
        if isinstance(stage, Prepared) or (callable(stage) and not hasattr(stage, "graph")):
            links.append((stage, {}))
            continue
        wanted = stage if isinstance(stage, Stage) else Stage(stage)
        links.append((prepare(wanted.resource, wanted.config, wanted.device), wanted.inputs))
    return Chain(links)


def _feed(link: _Link, given: Mapping[str, Any], tensors: _Tensors) -> Any:
    """Return the inputs of a resource; what is missing is left out, and reported by the signature.

    Args:
        link: It.
        given: What the stage before gave.
        tensors: Of the chain, and of all stages before.
    """
    if link.signature is None:
        return next(iter(given.values())) if len(given) == 1 else given
    sources = link.sources
    of_chain, made = tensors
    known = {**of_chain, **made}
    by_name = all(name in known for name in sources) and any(name in made for name in sources)
    if not link.inputs and len(sources) == len(given) and not by_name:
        sources = dict(zip(sources, given, strict=True))
    return {name: known[source] for name, source in sources.items() if source in known}


def _tensors(number: int, link: _Link, result: Any) -> Mapping[str, Any]:
    """Return what a function gave by name.

    Raises:
        TargetError: It is nothing of which arrays can be made.
    """
    named = result if isinstance(result, Mapping) else {"output": result}
    for value in named.values():
        try:
            is_array = not np.asarray(value).dtype.hasobject
        except ValueError:  # lists of several lengths
            is_array = False
        if not is_array:
            raise TargetError(
                f"stage {number} of the chain ({link}) must return an array or a table of arrays, not {result!r}"
            )
    return named


def _check_fit(number: int, before: _Link, after: _Link) -> None:
    """Check that the single output of a resource can be the single input of the next, as far as both say."""
    gives, takes = before.signature, after.signature
    if after.inputs or gives is None or takes is None or len(gives.outputs) != 1 or len(takes.inputs) != 1:
        return
    out, into = gives.outputs[0], takes.inputs[0]
    if not _fits(out, into):
        raise TargetError(
            f"stage {number} of the chain ({after}) takes {into}, and stage {number - 1} ({before}) gives {out}"
        )


def _fits(out: TensorSpec, into: TensorSpec) -> bool:
    return out.shape[1:] == into.shape[1:] and len(out.shape) == len(into.shape) and out.dtype == into.dtype
