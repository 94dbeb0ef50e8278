"""`brainsmith compare`: run a model on several targets, and say where they first differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith.cli.models import check_model, read_inputs, resources
from brainsmith.errors import TargetError, UsageError

if TYPE_CHECKING:
    from typing import Any

    from brainsmith.cli.arguments import Options
    from brainsmith.cli.terminal import Terminal
    from brainsmith.comparison.compare import Compared

COLUMNS = ("target", "outputs", "inside", "worst error", "prepare ms", "execute ms", "result")
"""The columns, in order."""


def run(options: Options, terminal: Terminal) -> int:
    """Compare and print; return 1 if a target's outputs differ from the first's beyond the tolerance."""
    model = options.required("MODEL")
    check_model(model)
    from brainsmith.comparison.compare import compare_targets, devices_of, outcome
    from brainsmith.comparison.tensors import RELATIVE_TOLERANCE

    devices = devices_of(options.required("--targets"))
    tolerance = _tolerance(options.text("--tolerance"), RELATIVE_TOLERANCE)
    with resources(model, devices, options, terminal) as each:
        feed = _feed(options.required("--input"), devices[0], each[devices[0]])
        results = compare_targets(
            each, feed, tolerance=tolerance, progress=lambda device: terminal.write_over(f"{device} ...")
        )
    terminal.write_over("")
    terminal.table(COLUMNS, [_row(one, devices[0]) for one in results])
    for one in results:
        for note in one.notes:
            terminal.write(f"{one.device}: {note}")
        if one.first is not None:
            terminal.write(one.told(devices[0]))
    return 0 if outcome(results) else 1


def _tolerance(text: str | None, default: float) -> float:
    if text is None:
        return default
    try:
        return float(text)
    except ValueError:
        raise UsageError(f"--tolerance must be a number such as 1e-6, not {text!r}") from None


def _feed(name: str, device: str, resource: str) -> dict[str, Any]:
    """Read the inputs as the first target takes them."""
    from brainsmith.runtime.manager import ResourceManager

    with ResourceManager({"device": device}) as manager:
        signature = manager.prepare_resource(resource).signature
    if signature is None:
        raise TargetError(f"target '{device}' does not say what the model's inputs are")
    return read_inputs(name, signature)


def _row(one: Compared, first: str) -> tuple[str, ...]:
    if one.device == first:
        result = "compared with"
    else:
        result = "equal" if one.worst == 0 else "within the tolerance" if one.agrees else "DIFFERENT"
    return (
        one.device,
        str(one.outputs),
        str(one.inside) if one.device != first else "",
        f"{one.worst:.3g}" if one.device != first else "",
        f"{one.prepare_seconds * 1e3:,.1f}",
        f"{one.execute_seconds * 1e3:,.1f}",
        result,
    )
