"""Run one model on several targets with the same inputs, and compare each with the first."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.comparison.boundary_tensors import boundary_tensors
from brainsmith.comparison.producers import producers
from brainsmith.comparison.rounding import rounding_explained
from brainsmith.comparison.runs import read_alike, run_on
from brainsmith.comparison.tensors import (
    RELATIVE_TOLERANCE,
    Difference,
    difference,
    largest_error,
    tolerance_of,
)
from brainsmith.errors import BrainsmithError, UnsupportedResourceError, UsageError
from brainsmith.figures import plural
from brainsmith.runtime.default import get_registry
from brainsmith.runtime.devices import find_device
from brainsmith.runtime.model_resources import is_folder
from brainsmith.runtime.resource_manager import ResourceManager
from brainsmith.shown import error_text

if TYPE_CHECKING:
    from brainsmith.comparison.runs import TargetRun, Tensors
    from brainsmith.graph.array_types import Array

_FAILURES = (BrainsmithError, TypeError, ValueError, KeyError)
"""What a target may raise: what it states or returns is not checked in all."""


@dataclass(frozen=True)
class Compared:
    """One target's results beside those of the first.

    Attributes:
        device: As it was asked for.
        prepare_seconds: How long preparing took; little where it was kept.
        execute_seconds: How long the run took.
        outputs: How many outputs were compared, and
        inside: how many tensors within the model; 0 for the first target, and where none is known by both.
        worst: The largest absolute difference of any output.
        differences: The outputs that differ beyond the tolerance.
        first: The first tensor in the order of the graph that differs; None if none does.
        rounding: Why the first difference is one of rounding alone, where that is certain.
        notes: What had to be done to compare the two, and what was not compared.
        reason: Why nothing was compared; empty if it was.
        supported: Whether the target supports its resource.
    """

    device: str
    prepare_seconds: float = 0.0
    execute_seconds: float = 0.0
    outputs: int = 0
    inside: int = 0
    worst: float = 0.0
    differences: tuple[Difference, ...] = ()
    first: Difference | None = None
    rounding: str = ""
    notes: tuple[str, ...] = ()
    reason: str = ""
    supported: bool = True

    @property
    def agrees(self) -> bool:
        """Whether every output is as the first target's, within the tolerance."""
        return not self.differences and not self.reason

    def told(self, first: str) -> str:
        """Return a sentence about the first difference; empty if there is none.

        Args:
            first: The device that was compared with.
        """
        if (one := self.first) is None:
            return ""
        node = f" of node {one.node}" if one.node else ""
        where = ", ".join(map(str, one.index))
        values = (
            f"[{where}] is {one.found:.9g}, not {one.expected:.9g}" if one.index else "it has another shape"
        )
        return (
            f"{self.device} first differs from {first} at tensor '{one.tensor}'{node}: {values}; "
            f"error {one.error:.3g}, allowed {one.tolerance:.3g}, in {plural(one.samples, 'sample')}"
            + ("" if self.differences else "; the outputs agree all the same")
            + (f"\n  {self.rounding}" if self.rounding else "")
        )


def compare_targets(
    resources: Mapping[str, Any],
    inputs: Any,
    *,
    tolerance: float = RELATIVE_TOLERANCE,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    progress: Callable[[str], None] | None = None,
    found: Callable[[Compared], None] | None = None,
    strict: bool = True,
) -> list[Compared]:
    """Run a model on several targets, and compare each with the first.

    Integers must be equal. Other tensors may differ by a share of the largest magnitude that the first target's has.
    Tensors within the model are compared where both targets give them; those of a circuit, at the boundaries of its
    layers, with the hardware model of its build.

    Args:
        resources: What each target runs, by device (`numpy`, `rtlsim:0`), the one to compare with first. Different
            resources are forms of one model: its .onnx file, and the folder of its build.
        inputs: Arrays by name, or one array; those of the first resource. Or a function that returns them for its
            signature.
        tolerance: The share of a tensor's largest magnitude by which floats may differ.
        options: Constructor arguments by the target's name.
        progress: Called with each device before it runs.
        found: Called with each entry as soon as it is known: what is done is not lost if a target's `cleanup` raises.
        strict: Otherwise a target that cannot be used, does not support its resource or fails has an entry that says why;
            the first one must run all the same.

    Returns:
        One entry for each target, in the order given; the first compares with itself.

    Raises:
        UsageError: There is no target to compare, or the tolerance is invalid.
        InputError: The inputs are not the model's.
        TargetError: A target cannot be used, does not support its resource, or failed.
    """
    if len(resources) < 2:
        raise UsageError(f"a comparison needs two targets or more, not {len(resources)}")
    if not 0 <= tolerance < np.inf:
        raise UsageError(f"the tolerance must be 0 or more, not {tolerance!r}")
    first: TargetRun | None = None
    results: list[Compared] = []
    with ResourceManager({"device": next(iter(resources)), "targets": dict(options or {})}) as manager:
        for device, resource in resources.items():
            if progress is not None:
                progress(device)
            try:
                run = run_on(manager, device, resource, inputs, first)
                one = _of_first(run) if first is None else _compared(first, run, tolerance)
                first = first or run
            except _FAILURES as error:
                if strict or first is None:
                    raise
                supported = not isinstance(error, UnsupportedResourceError)
                one = Compared(device, reason=error_text(error), supported=supported)
            results.append(one)
            if found is not None:
                found(one)
    return results


def _of_first(first: TargetRun) -> Compared:
    times = first.prepare_seconds, first.execute_seconds
    return Compared(first.device, *times, outputs=len(first.signature.outputs), notes=first.notes)


def _compared(first: TargetRun, run: TargetRun, tolerance: float) -> Compared:
    outputs, found, notes = read_alike(first, run)
    notes = (*run.notes, *notes)
    integers = {s.name for s in first.signature.outputs if _is_integer(s.datatype)}
    wrong = _differences(found, outputs, found, tolerance, integers)
    worst = max((largest_error(outputs[name], array) for name, array in found.items()), default=0.0)
    expected, unknown = _inside(first, run)
    notes += unknown
    common = [name for name in expected if name in run.tensors and name not in found]
    inside = _differences(common, expected, run.tensors, tolerance)
    makers = producers(run.resource) if inside or wrong else {}
    named = [replace(one, node=makers.get(one.tensor, "")) for one in (*inside, *wrong)]
    order = {name: at for at, name in enumerate(makers)}
    place = min(named, key=lambda one: order.get(one.tensor, len(order)), default=None)
    rounding = ""
    if place is not None and not is_folder(run.resource):
        known = {**expected, **outputs}, {**run.tensors, **found}
        rounding = rounding_explained(run.resource, place, *known, tolerance)
    return Compared(
        run.device,
        run.prepare_seconds,
        run.execute_seconds,
        outputs=len(found),
        inside=len(common),
        worst=worst,
        differences=tuple(named[len(inside) :]),
        first=place,
        rounding=rounding,
        notes=notes,
    )


def _is_integer(datatype: str) -> bool:
    return not datatype.startswith(("FLOAT", "FIXED", "SCALEDINT"))


def _inside(first: TargetRun, run: TargetRun) -> tuple[Tensors, tuple[str, ...]]:
    """Return what the tensors within a target's resource should be, in the order of the graph."""
    if not run.inside:
        return {}, ("it gives no tensors within the model",)
    if not is_folder(run.resource):
        if first.inside and not is_folder(first.resource):
            return first.tensors, ()
        return {}, ("the first target gives no tensors within the model",)
    if run.resource == first.resource and first.inside:
        return first.tensors, ()
    return boundary_tensors(Path(run.resource), run.feed), ()


def _differences(
    names: Iterable[str],
    expected: Mapping[str, Array],
    found: Mapping[str, Array],
    tolerance: float,
    integers: Collection[str] = (),
) -> list[Difference]:
    """Return how tensors of these names differ, of those that do."""
    differences = []
    for name in names:
        right, given = expected[name], found[name]
        one = difference(name, right, given, tolerance_of(right, given, tolerance, name in integers))
        if one is not None:
            differences.append(one)
    return differences


def devices_of(text: str) -> list[str]:
    """Return the devices that a text lists between commas.

    Raises:
        UsageError: There are fewer than two, or one twice.
        DeviceError: There is no such device.
    """
    devices = [part.strip() for part in text.split(",") if part.strip()]
    if len(devices) >= 2:
        found = [find_device(device, get_registry().records) for device in devices]
        meant = {(one.target.qualified if one.target else one.device_type, one.device_id) for one in found}
        if len(meant) == len(devices):
            return devices
    raise UsageError(
        f"--targets must list two targets or more, each once, such as reference,numpy; not {text!r}"
    )
