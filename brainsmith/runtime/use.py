"""Prepare and execute on one live target: what is checked, measured and told around the target's own methods."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import count
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.errors import TargetError, UnsupportedResourceError
from brainsmith.plugin.core import get_registry
from brainsmith.runtime.availability import why_unsupported
from brainsmith.runtime.content import describe_resource, digest_of
from brainsmith.runtime.live import life_of
from brainsmith.runtime.log import note
from brainsmith.runtime.prepared import Prepared

if TYPE_CHECKING:
    from brainsmith.runtime.live import LiveTarget

Outputs = dict[str, np.ndarray[Any, Any]]

_UNKNOWN = count(1)
"""Numbers for objects whose content cannot be told."""


def prepare(
    live: LiveTarget, resource: Any, content: str, config: Mapping[str, Any] | None, supported: bool = False
) -> Prepared:
    """Return a resource prepared by a target: made once for each content and configuration.

    It is made anew once a name means another plugin, since a model's operators may be of it.

    Args:
        live: The target, held by whoever calls this.
        resource: What is to be prepared.
        content: Stands for its content; nothing if that cannot be told, and then it is prepared anew each time.
        config: The target's own choices.
        supported: Whether the target was asked already.

    Raises:
        UnsupportedResourceError: The target does not support it.
        TargetError: The target failed, was released, or the configuration is not plain.
    """
    choices = digest_of(config or {}, f"the configuration for target '{live.name}'")
    meaning = get_registry().redefinitions
    key = f"{live.key}-{choices}-{content or f'object{next(_UNKNOWN)}'}-{meaning}"
    found = live.prepared.find(key) if content else None
    if found is not None and live.is_ready:
        return found
    if not supported:
        reason = why_unsupported(live, resource)
        if reason:
            raise UnsupportedResourceError(
                f"target '{live.name}' cannot execute {describe_resource(resource)}: {reason}"
            )
    with live.use("prepare_resource"):
        return live.prepared.get(key, lambda: _make(live, resource, config, key))


def _make(live: LiveTarget, resource: Any, config: Mapping[str, Any] | None, key: str) -> Prepared:
    begin = perf_counter()
    returned: Any = live.target.prepare_resource(resource, config)
    told = describe_resource(resource)
    if isinstance(returned, Prepared):
        made = replace(returned, target=live.target, key=key, resource=told)
    else:
        made = Prepared(
            target=live.target, signature=None, payload=returned, key=key, resource=told, bare=True
        )
    seconds = perf_counter() - begin
    live.meter.prepared(seconds)
    note("%s prepared %s in %.1f ms", live, told, seconds * 1e3)
    return made


def execute_prepared(prepared: Prepared, inputs: Any, kwargs: Mapping[str, Any]) -> Outputs:
    """Execute what was prepared, on the target that prepared it.

    Raises:
        InputError: The inputs are not the model's.
        TargetError: It was not prepared by a manager; the target failed, was released, or cannot return what `keep`
            names.
    """
    if not isinstance(prepared, Prepared):
        raise TargetError(f"execute needs what prepare_resource returned, not {type(prepared).__name__}")
    live = life_of(prepared.target)
    if live is None:
        raise TargetError(
            f"target {prepared.target!r} was not made by the registry: execute with its own method, or get it by name"
        )
    own = dict(kwargs)
    if not live.capabilities.intermediates and not _is_empty(own.pop("keep", ())):
        raise TargetError(
            f"target '{live.name}' cannot return tensors inside the model, so keep= cannot be given: "
            "it lacks the capability intermediates"
        )
    checked, samples = _checked(prepared, inputs)
    try:
        with live.use("execute"):
            begin = perf_counter()
            result = live.target.execute(prepared.payload if prepared.bare else prepared, checked, **own)
            seconds = perf_counter() - begin
    except BaseException:
        live.meter.failed()
        raise
    live.meter.executed(seconds, samples)
    return _outputs(live, prepared, result)


def _is_empty(keep: Any) -> bool:
    return keep is not None and hasattr(keep, "__len__") and len(keep) == 0


def _checked(prepared: Prepared, inputs: Any) -> tuple[Any, int]:
    """Return the inputs as the signature has them, and how many samples they hold."""
    if prepared.signature is None:
        first = next(iter(inputs.values()), None) if isinstance(inputs, Mapping) else inputs
        shape = getattr(first, "shape", ())
        return inputs, int(shape[0]) if shape else 1
    arrays, runs = prepared.signature.checked(inputs)
    return arrays, runs * prepared.signature.batch


def _outputs(live: LiveTarget, prepared: Prepared, result: Any) -> Outputs:
    """Return what a target gave; with a signature that must be all outputs, as arrays."""
    if prepared.signature is not None:
        names = [spec.name for spec in prepared.signature.outputs]
        missing = [name for name in names if not isinstance(result, Mapping) or name not in result]
        if missing:
            gave = ", ".join(map(repr, result)) if isinstance(result, Mapping) else type(result).__name__
            raise TargetError(
                f"target '{live.name}' must return output {missing[0]!r}; it returned {gave or 'nothing'}"
            )
    outputs: Outputs = result
    return outputs
