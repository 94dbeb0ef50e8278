"""The comparison in a build's report: one model on several targets, with a few of the golden inputs."""

from __future__ import annotations

import math
import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.build.lasting_operators import has_lasting_operators
from brainsmith.comparison.tensors import RELATIVE_TOLERANCE
from brainsmith.errors import AmbiguousPluginError, TargetError
from brainsmith.figures import plural
from brainsmith.graph.array_types import Array
from brainsmith.plugin.core import get_registry
from brainsmith.shown import error_text
from brainsmith.store.fingerprint import digest
from brainsmith.store.values import Kept

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from brainsmith.build.artifact import Artifact
    from brainsmith.comparison.compare_targets import Compared
    from brainsmith.comparison.tensors import Difference
    from brainsmith.plugin.info import PluginInfo
    from brainsmith.runtime.resource_manager import ResourceManager

Fields = dict[str, Any]

SAMPLES = 8
_SECONDS = 2.0
CIRCUIT = "brainsmith:rtlsim"
"""The target that simulates the circuit."""
_REPRODUCIBLE = tuple(
    f"brainsmith:{name}" for name in ("reference", "numpy", "onnxruntime", "cppsim", "rtlsim")
)


def compare_for_report(
    targets: Sequence[PluginInfo], model: Artifact, inputs: Mapping[str, Array], folder: Path, after: str = ""
) -> Fields | None:
    """Run a model on several targets, and compare each with the first.

    Args:
        targets: The one to compare with first.
        model: The input model, or the one after the last step that changed its outputs, as the blueprint allows.
        inputs: By input, in their order: (samples, *shape), of which eight are run at most, and fewer where the first
            target is slow.
        folder: The output folder of the build, which `rtlsim` runs.
        after: The step whose result `model` is.

    Returns:
        The report's `targets`; None if there are none. A target that cannot run the model has an entry with the reason.
    """
    from brainsmith.comparison.compare_targets import (
        compare_targets,  # a comparison that is kept needs neither
    )
    from brainsmith.runtime.resource_manager import ResourceManager

    if not targets:
        return None
    devices = [_device(info) for info in targets]
    first = devices[0]
    told: Fields = {
        "with": first,
        "after": after,
        "tolerance": RELATIVE_TOLERANCE,
        "samples": 0,
        "reason": "",
    }
    if len(devices) < 2:
        return {**told, "reason": f"there is no target here to compare '{first}' with", "results": []}
    resources = {
        device: str(folder) if info.qualified == CIRCUIT else model.data
        for device, info in zip(devices, targets, strict=True)
    }
    entries: list[Compared] = []
    failure = ""
    try:
        with ResourceManager({"device": first}) as manager:  # what it prepares serves the comparison too
            feed, told["samples"] = _few(manager, resources[first], inputs)
            compare_targets(resources, feed, strict=False, found=entries.append)
    except (Exception, SystemExit) as error:  # noqa: BLE001  (a finished build is not lost to what a target raises)
        failure = _placeless(error_text(error), folder)
    results = [{**_result(one, first), "reason": _placeless(one.reason, folder)} for one in entries[1:]]
    if len(results) < len(devices) - 1:
        return {**told, "reason": failure, "results": results}
    return {**told, "reason": "", "notes": [failure] if failure else [], "results": results}


class KeptComparison:
    """The last comparison of a model on some targets, on disk: it holds as long as nothing that it depends on changes.

    Args:
        cache_dir: Where it is kept.
        model: What is compared.
        targets: On which.
    """

    def __init__(self, cache_dir: Path, model: Artifact, targets: Sequence[PluginInfo]) -> None:
        known = has_lasting_operators(model.peek().graph)
        self._reproducible = known and all(info.qualified in _REPRODUCIBLE for info in targets)
        names = ",".join(f"{info.qualified} {info.version}" for info in targets)
        self._of = ", ".join(info.qualified for info in targets)
        self._kept = Kept(str(cache_dir), "comparisons", f"{model.digest}|{names}")

    def load(self, fingerprint: str, inputs: Mapping[str, Array]) -> Fields | None:
        """Return the comparison, if it was of the same steps' results and inputs."""
        found: Fields | None = self._kept.load(_stamp(fingerprint, inputs)) if self._reproducible else None
        return found

    def save(self, fingerprint: str, inputs: Mapping[str, Array], comparison: Fields) -> None:
        """Keep a comparison of targets and operators that depend on nothing but known code."""
        whole = comparison["results"] and not any(one["reason"] for one in comparison["results"])
        if whole and self._reproducible and not comparison["reason"]:
            self._kept.save(_stamp(fingerprint, inputs), comparison, {"of": self._of})


def warnings_of(comparison: Fields | None) -> list[str]:
    """Return a warning for a comparison that was not made, and for what failed at its end.

    That targets differ, or were named and not compared, is a shortfall of the build.
    """
    if comparison is None:
        return []
    reason = comparison["reason"]
    warnings = [f"targets were not compared: {reason}"] if reason and not comparison["named"] else []
    return [*warnings, *comparison.get("notes", ())]


def _device(info: PluginInfo) -> str:
    """Return a target's bare name where that means this one."""
    try:
        found = get_registry().resolve("target", info.name)
    except AmbiguousPluginError:
        return info.qualified
    return info.name if found == info else info.qualified


def _few(manager: ResourceManager, resource: Any, inputs: Mapping[str, Array]) -> tuple[Any, int]:
    """Return as many samples, evenly spread, as the first target runs in about two seconds, and how many these are."""
    prepared = manager.prepare_resource(resource)
    if prepared.signature is None:  # it cannot be compared, which the comparison says
        return {}, 0
    specs = prepared.signature.inputs
    if len(specs) != len(inputs):
        raise TargetError(
            f"its signature says that the model has {plural(len(specs), 'input')}, and there are {len(inputs)}"
        )

    def taken(runs: Any) -> dict[str, Array]:
        pairs = zip(specs, inputs.values(), strict=True)  # a step may have renamed them
        return {spec.name: spec.joined(stack[runs]).astype(spec.dtype) for spec, stack in pairs}

    count = len(next(iter(inputs.values())))
    begun = time.perf_counter()
    manager.execute(prepared, taken(slice(1)))
    affordable = int(_SECONDS / max(time.perf_counter() - begun, 1e-9))
    chosen = np.linspace(0, count - 1, max(1, min(SAMPLES, affordable, count))).astype(int)
    return taken(chosen), len(chosen)


def _result(one: Compared, first: str) -> Fields:
    known = not one.reason
    return {
        "target": one.device,
        "agrees": one.agrees if known else None,
        "outputs": one.outputs if known else None,
        "inside": one.inside if known else None,
        "worst": _number(one.worst) if known else None,
        "first": None if one.first is None else _difference(one.first),
        "told": one.told(first).partition("\n")[0],
        "rounding": one.rounding.partition("; --tolerance")[0],
        "notes": list(one.notes),
    }


def _difference(one: Difference) -> Fields:
    return {name: _number(held) if isinstance(held, float) else held for name, held in asdict(one).items()}


def _placeless(reason: object, folder: Path) -> str:
    """Return a reason without the hidden folder in which a build works."""
    return str(reason).replace(str(folder), "the build's folder")


def _number(value: float) -> float | None:
    """Return a number as JSON can hold it: None for infinity and NaN, which JSON lacks."""
    return value if math.isfinite(value) else None


def _stamp(fingerprint: str, inputs: Mapping[str, Array]) -> str:
    return " ".join([fingerprint, *(f"{stack.shape} {digest(stack.tobytes())}" for stack in inputs.values())])
