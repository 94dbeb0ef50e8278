"""`brainsmith run`: execute a model on a target."""

from __future__ import annotations

import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from brainsmith.cli.arrays import check_output, described, write_arrays
from brainsmith.cli.inputs import Inputs
from brainsmith.cli.models import check_model, resources
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
    inputs = Inputs(options.required("--input"))
    with _manager(options.text("--target")) as manager:
        chosen = manager.config.device
        with resources(model, [chosen], options, terminal, inputs) as each:
            # What is done is written and printed before the targets are let go of, which may fail.
            pairs = _run(manager, each[chosen], inputs, output)
            if each[chosen] != model:
                pairs.insert(0, ("circuit", options.text("--build") or f"of {options.text('--blueprint')}"))
            terminal.pairs([("model", model), *pairs])
            terminal.flush()
    return 0


def _run(
    manager: ResourceManager, resource: str, inputs: Inputs, output: str | None
) -> list[tuple[str, str]]:
    begin = time.perf_counter()
    # A manager without a target is to choose one for this resource, and not one for any before.
    prepared = manager.prepare_resource(resource, device=None if manager.active else manager.config.device)
    prepare_seconds = time.perf_counter() - begin
    info = type(prepared.target).metadata()
    feed = inputs.feed(info.name, prepared.signature)
    assert prepared.signature is not None
    _, runs = prepared.signature.checked(feed)
    begin = time.perf_counter()
    outputs = manager.execute(prepared, feed)
    seconds = time.perf_counter() - begin
    samples = runs * prepared.signature.batch
    if output is not None:
        write_arrays(Path(output), outputs)
    return [
        ("target", f"{info.name}:{prepared.target.device_id}: {prepared.target.describe()}"),
        ("samples", f"{samples:,}"),
        ("prepared", f"in {prepare_seconds * 1e3:,.1f} ms"),
        ("executed", f"in {seconds * 1e3:,.1f} ms, {samples / seconds:,.0f} samples/s"),
        ("output", f"{output}: {described(outputs)}")
        if output is not None
        else ("outputs", described(outputs)),
    ]


@contextmanager
def _manager(device: str | None) -> Iterator[ResourceManager]:
    """Give a manager with that device, or the default one: that of `init` in this process, else of the settings."""
    from brainsmith.runtime.default import RUNTIME
    from brainsmith.runtime.manager import ResourceManager

    if device is None and RUNTIME.manager.active is not None:
        yield RUNTIME.manager
        return
    manager = ResourceManager({} if device is None else {"device": device})
    try:
        with manager.config.applied():
            yield manager
    except BaseException:
        with suppress(TargetError):  # what came first is what is reported
            manager.close()
        raise
    manager.close()
