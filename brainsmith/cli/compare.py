"""`brainsmith compare`: run a model on several targets, and say where they first differ."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from brainsmith.cli.array_options import Inputs
from brainsmith.cli.live_line import shown
from brainsmith.cli.model_options import HINT, check_model, is_without_build, resources
from brainsmith.cli.terminal import complain

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from brainsmith.cli.command_line import Options
    from brainsmith.cli.terminal import Terminal
    from brainsmith.comparison.compare_targets import Compared

COLUMNS = ("target", "outputs", "inside", "worst error", "prepare ms", "execute ms", "result")
"""The columns, in order."""


def run(options: Options, terminal: Terminal) -> int:
    """Compare and print; return 1 if a target's outputs differ from the first's beyond the tolerance."""
    model = options.required("MODEL")
    check_model(model)
    from brainsmith.comparison.compare_targets import compare_targets, devices_of
    from brainsmith.comparison.tensors import RELATIVE_TOLERANCE

    devices = devices_of(options.required("--targets"))
    tolerance = options.number(
        "--tolerance", RELATIVE_TOLERANCE, "a number such as 1e-6, 0 or more", least=0.0
    )
    inputs = Inputs(options.required("--input"))
    results: list[Compared] = []
    with resources(model, devices, options, terminal, inputs) as each:
        try:
            with shown(terminal):
                compare_targets(
                    each,
                    lambda signature: inputs.feed(devices[0], signature),
                    tolerance=tolerance,
                    progress=lambda device: terminal.write_over(f"{device} ..."),
                    found=results.append,
                    strict=False,
                )
        finally:  # what is done is printed, whatever ends it
            terminal.give(
                lambda: _plain(model, results, devices), lambda: _show(results, devices[0], terminal)
            )
            for one in results:
                if one.reason:
                    complain(f"error: {one.reason}")
    if not all(one.supported for one in results) and is_without_build(model, each):
        complain(f"  {HINT}")
    return 0 if all(one.agrees for one in results) else 1


def _show(results: list[Compared], first: str, terminal: Terminal) -> None:
    terminal.table(COLUMNS, [_row(one, first) for one in results])
    for one in results:
        for note in one.notes:
            terminal.write(f"{one.device}: {note}")
        if one.first is not None:
            terminal.write(one.told(first))
    terminal.flush()


def _plain(model: str, results: list[Compared], devices: Sequence[str]) -> dict[str, Any]:
    """Return the comparison for programs: of each target that was compared, or could not be."""
    return {
        "model": model,
        "compared_with": devices[0],
        "agrees": len(results) == len(devices) and all(one.agrees for one in results),
        "targets": [{**asdict(one), "agrees": one.agrees} for one in results],
        "error": None,
    }


def _row(one: Compared, first: str) -> tuple[str, ...]:
    if one.reason:
        return (one.device, "", "", "", "", "", "not compared")
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
