"""Prepare and execute on one live target: what is checked, measured and reported around the target's own methods."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import count
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.errors import BuildError, InputError, SimulationError, TargetError, UnsupportedResourceError
from brainsmith.plugin.core import get_registry
from brainsmith.runtime.annotated_inputs import refuse_outside
from brainsmith.runtime.availability import why_unsupported
from brainsmith.runtime.live_target import live_target_of
from brainsmith.runtime.prepared import Prepared
from brainsmith.runtime.resource_content import describe_resource, digest_of
from brainsmith.runtime.target_arguments import refuse_unknown_keywords
from brainsmith.runtime.target_log import note
from brainsmith.runtime.target_outputs import wrong_outputs

if TYPE_CHECKING:
    from brainsmith.runtime.live_target import LiveTarget

Outputs = dict[str, np.ndarray[Any, Any]]

_UNKNOWN = count(1)
"""Numbers for objects whose content cannot be determined."""


def prepare(
    live: LiveTarget, resource: Any, content: str, config: Mapping[str, Any] | None, supported: bool = False
) -> Prepared:
    """Return a resource prepared by a target: made once for each content and configuration.

    It is made again after a plugin's name was given to another one, since the model may use its operators.

    Args:
        live: The target, held by the caller.
        resource: What is to be prepared.
        content: Stands for its content; nothing if that cannot be determined, and then it is prepared each time.
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
    described = describe_resource(resource)
    if isinstance(returned, Prepared):
        made = replace(returned, target=live.target, key=key, resource=described)
    else:
        made = Prepared(
            target=live.target, signature=None, payload=returned, key=key, resource=described, bare=True
        )
    seconds = perf_counter() - begin
    live.meter.add(prepares=1, prepare_seconds=seconds)
    note("%s prepared %s in %.1f ms", live, described, seconds * 1e3)
    return made


def execute_prepared(prepared: Prepared, inputs: Any, kwargs: Mapping[str, Any]) -> Outputs:
    """Execute what was prepared, on the target that prepared it.

    Raises:
        InputError: The inputs are not the model's.
        TargetError: It was not prepared by a manager; the target failed, was released, cannot return what `keep`
            names, or returned something else than it stated.
    """
    if not isinstance(prepared, Prepared):
        raise TargetError(f"execute needs what prepare_resource returned, not {type(prepared).__name__}")
    live = live_target_of(prepared.target)
    if live is None:
        raise TargetError(
            f"target {prepared.target!r} was not made by the registry: execute with its own method, or get it by name"
        )
    own = _own_keywords(live, kwargs)
    checked, runs, samples = _checked(prepared, inputs)
    try:
        with live.use("execute"):
            begin = perf_counter()
            result = _call(prepared, checked, own)
            seconds = perf_counter() - begin
        if prepared.signature is not None:
            wrong = wrong_outputs(prepared.signature, result, runs, own.get("keep", ()))
            if wrong:
                raise TargetError(f"target '{live.name}' must {wrong}")
    except InputError:  # the caller's, not the target's
        raise
    except BaseException:
        live.meter.add(failures=1)
        raise
    live.meter.add(executes=1, samples=samples, execute_seconds=seconds)
    outputs: Outputs = result
    return outputs


def _own_keywords(live: LiveTarget, kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the target's `execute` is given; what `keep` names can be read any number of times.

    Raises:
        TargetError: The target does not know `keep`, and it names something; or it does not know another keyword.
    """
    if not kwargs:
        return {}
    own = dict(kwargs)
    keep = own.get("keep", ())
    if isinstance(keep, str):  # one name, and not its letters
        keep = (keep,)
    if keep is not None and hasattr(keep, "__iter__"):
        keep = tuple(keep)
    if not live.capabilities.intermediates:
        own.pop("keep", None)
        if keep != ():
            raise TargetError(
                f"target '{live.name}' cannot return tensors inside the model, so keep= cannot be given: "
                "it lacks the capability intermediates"
            )
    elif "keep" in own:
        own["keep"] = keep
    refuse_unknown_keywords(live.name, live.target, own)
    return own


def _checked(prepared: Prepared, inputs: Any) -> tuple[Any, int, int]:
    """Return the inputs as the signature has them, and how many runs and samples they hold."""
    if prepared.signature is None:
        first = next(iter(inputs.values()), None) if isinstance(inputs, Mapping) else inputs
        shape = getattr(first, "shape", ())
        samples = int(shape[0]) if shape else 1
        return inputs, samples, samples
    arrays, runs = prepared.signature.checked(inputs)
    return arrays, runs, runs * prepared.signature.batch


def _call(prepared: Prepared, inputs: Any, kwargs: Mapping[str, Any]) -> Any:
    """Have the target execute; if it finds that a tensor is not what it is annotated as, see whether an input is it.

    Raises:
        InputError: It is.
    """
    try:
        return prepared.target.execute(prepared.payload if prepared.bare else prepared, inputs, **kwargs)
    except (BuildError, SimulationError):
        if prepared.signature is not None:
            refuse_outside(prepared.signature, inputs)
        raise
