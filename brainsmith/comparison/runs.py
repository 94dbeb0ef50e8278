"""Run one model on a target, with the inputs of another form of it, and read its outputs as that one's."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.errors import TargetError
from brainsmith.execution.align import align
from brainsmith.graph.array_types import Array

if TYPE_CHECKING:
    from brainsmith.execution.signature import ModelSignature
    from brainsmith.runtime.resource_manager import ResourceManager
    from brainsmith.runtime.target import Target

Tensors = dict[str, Array]


@dataclass(frozen=True)
class TargetRun:
    """What a target made of its resource.

    Attributes:
        device: As it was asked for.
        resource: What it ran.
        signature: The resource's.
        feed: Its inputs, as the signature has them.
        tensors: Its outputs, and what it gives of the tensors within; with all runs in the first axis.
        inside: Whether it gives tensors within the model.
        prepare_seconds: How long preparing took; little where it was kept.
        execute_seconds: How long the run took.
        target: What ran it: the best of several may be meant by the device.
    """

    device: str
    resource: Any
    signature: ModelSignature
    feed: Tensors
    tensors: Tensors
    inside: bool
    prepare_seconds: float
    execute_seconds: float
    target: Target

    @property
    def notes(self) -> tuple[str, ...]:
        """Which target ran it, where the device does not say so."""
        ran = type(self.target).metadata().name
        return () if ran in self.device.split(":") else (f"ran on {ran}:{self.target.device_id}",)


def run_on(
    manager: ResourceManager, device: str, resource: Any, inputs: Any, first: TargetRun | None
) -> TargetRun:
    """Prepare a resource on a device, and run it.

    Args:
        manager: Which gets the device active.
        device: Such as `numpy` or `rtlsim:0`.
        resource: What it runs.
        inputs: By name, or one array: those of the first run's resource; of this one if there was none. Or a function
            that returns them for its signature.
        first: The run whose inputs these are.

    Raises:
        InputError: The inputs are not the model's.
        TargetError: The target cannot be used, does not support the resource, runs another model, or failed.
    """
    manager.use_device(device)
    begin = perf_counter()
    prepared = manager.prepare_resource(resource)
    prepare_seconds = perf_counter() - begin
    if prepared.signature is None:
        raise TargetError(
            f"target '{device}' does not state its inputs and outputs, so it cannot be compared"
        )
    if first is not None and prepared.target is first.target and resource == first.resource:
        name = f"{type(prepared.target).metadata().name}:{prepared.target.device_id}"
        text = f"'{device}' and '{first.device}' are both {name} here: name two different targets"
        raise TargetError(text)
    if first is not None:
        feed = fed(device, first, prepared.signature)
    else:
        given = inputs(prepared.signature) if callable(inputs) else inputs
        feed = prepared.signature.checked(given)[0]
    inside = prepared.target.get_capabilities().intermediates
    begin = perf_counter()
    tensors = dict(manager.execute(prepared, feed, **({"keep": None} if inside else {})))
    times = prepare_seconds, perf_counter() - begin
    return TargetRun(device, resource, prepared.signature, feed, tensors, inside, *times, prepared.target)


def fed(device: str, first: TargetRun, signature: ModelSignature) -> Tensors:
    """Return the inputs of the first run as another form of the model takes them.

    Raises:
        TargetError: It is another model.
    """
    arrays, runs = first.signature.checked(first.feed)
    if signature.inputs == first.signature.inputs:
        return arrays
    found = align(first.signature, signature)
    if found.reason:
        raise TargetError(f"target '{device}' runs another model: {found.reason}")
    changed = found.fed(first.signature.stacked(arrays, runs))
    return {spec.name: spec.joined(changed[spec.name]).astype(spec.dtype) for spec in signature.inputs}


def read_alike(first: TargetRun, run: TargetRun) -> tuple[Tensors, Tensors, tuple[str, ...]]:
    """Return the outputs of the first run and those of another one so that they can be compared.

    Returns:
        Both by the names of the first one's outputs, of equal shapes; and what had to be done. A class number is compared
        with the number of the largest value.

    Raises:
        TargetError: They cannot be compared; the message says why.
    """
    expected = {spec.name: first.tensors[spec.name] for spec in first.signature.outputs}
    outputs = {spec.name: run.tensors[spec.name] for spec in run.signature.outputs}
    if _forms(outputs) == _forms(expected):
        return expected, outputs, ()
    found = align(first.signature, run.signature)
    if found.reason:
        raise TargetError(f"the outputs of target '{run.device}' cannot be compared: {found.reason}")
    outputs = {}
    for name, (new, change) in found.read.items():
        spec = next(spec for spec in run.signature.outputs if spec.name == new)
        runs = run.tensors[new].size // max(1, int(np.prod(spec.shape)))
        stack = change(spec.stacked(run.tensors[new], runs))
        if found.classes:
            expected[name] = expected[name].reshape(stack.size, -1).argmax(axis=1).astype(stack.dtype)
        outputs[name] = stack.reshape(expected[name].shape)
    return expected, outputs, found.notes


def _forms(tensors: Tensors) -> list[tuple[str, tuple[int, ...]]]:
    return [(name, array.shape) for name, array in tensors.items()]
