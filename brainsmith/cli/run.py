"""`brainsmith run`: execute a model on a target."""

from __future__ import annotations

import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from brainsmith.cli.arrays import check_output, described, write_arrays
from brainsmith.cli.models import check_model, read_inputs, resources
from brainsmith.errors import TargetError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from brainsmith.cli.arguments import Options
    from brainsmith.cli.terminal import Terminal
    from brainsmith.runtime.manager import ResourceManager


def run(options: Options, terminal: Terminal) -> int:
    """Execute, write the outputs, and print what was run where and for how long."""
    model, output = options.required("MODEL"), options.text("--output")
    check_model(model)
    if output is not None:
        check_output(Path(output))
    device = options.text("--target")
    with _manager(device) as manager:
        chosen = manager.config.device
        with resources(model, [chosen], options, terminal) as each:
            begin = time.perf_counter()
            prepared = manager.prepare_resource(each[chosen])
            prepare_seconds = time.perf_counter() - begin
            if prepared.signature is None:
                raise TargetError(f"target '{chosen}' does not say what the model's inputs are")
            feed = read_inputs(options.required("--input"), prepared.signature)
            _, runs = prepared.signature.checked(feed)
            begin = time.perf_counter()
            outputs = manager.execute(prepared, feed)
            seconds = time.perf_counter() - begin
            info = type(prepared.target).metadata()
            samples = runs * prepared.signature.batch
            pairs = [
                ("model", model),
                ("target", f"{info.name}:{prepared.target.device_id}: {info.description}"),
                ("samples", f"{samples:,}"),
                ("prepared", f"in {prepare_seconds * 1e3:,.1f} ms"),
                ("executed", f"in {seconds * 1e3:,.1f} ms, {samples / seconds:,.0f} samples/s"),
            ]
    if output is None:
        pairs.append(("outputs", described(outputs)))
    else:
        write_arrays(Path(output), outputs)
        pairs.append(("output", f"{output}: {described(outputs)}"))
    terminal.pairs(pairs)
    return 0


@contextmanager
def _manager(device: str | None) -> Iterator[ResourceManager]:
    """Give a manager with that device, or the default one: that of `init` in this process, else of the settings."""
    from brainsmith.runtime.default import get_resource_manager
    from brainsmith.runtime.manager import ResourceManager

    if device is None:
        yield get_resource_manager()
        return
    with ResourceManager({"device": device}) as manager:
        yield manager
