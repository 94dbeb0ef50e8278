"""`brainsmith run`: execute a model on a target."""

from __future__ import annotations

import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from brainsmith.cli.array_options import Inputs, check_output, write_arrays
from brainsmith.cli.live_line import shown
from brainsmith.cli.model_options import check_model, resources
from brainsmith.errors import TargetError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from brainsmith.cli.command_line import Options
    from brainsmith.cli.terminal import Terminal
    from brainsmith.runtime.resource_manager import ResourceManager


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
            # What is done is written and printed before the targets are released, which may fail.
            with shown(terminal):
                done = _run(manager, each[chosen], inputs, output)
            if each[chosen] != model:
                done["circuit"] = options.text("--build") or f"of {options.text('--blueprint')}"
            document = {"model": model, **done, "error": None}
            terminal.give(lambda: document, lambda: terminal.pairs(_pairs(model, done)))
            terminal.flush()
    return 0


def _pairs(model: str, done: dict[str, Any]) -> list[tuple[str, str]]:
    samples, seconds = done["samples"], done["execute_seconds"]
    outputs = ", ".join(
        (f"{one['name']} " if len(done["outputs"]) > 1 else "") + f"{tuple(one['shape'])} {one['dtype']}"
        for one in done["outputs"]
    )
    return [
        ("model", model),
        *([("circuit", done["circuit"])] if done["circuit"] else []),
        ("target", f"{done['target']}: {done['description']}"),
        ("samples", f"{samples:,}"),
        ("prepared", f"in {done['prepare_seconds'] * 1e3:,.1f} ms"),
        ("executed", f"in {seconds * 1e3:,.1f} ms, {samples / seconds:,.0f} samples/s"),
        ("output", f"{done['output']}: {outputs}") if done["output"] else ("outputs", outputs),
    ]


def _run(manager: ResourceManager, resource: str, inputs: Inputs, output: str | None) -> dict[str, Any]:
    begin = time.perf_counter()
    # A manager without a target is to choose one for this resource, and not one for any before.
    prepared = manager.prepare_resource(resource, device=None if manager.active else manager.config.device)
    prepare_seconds = time.perf_counter() - begin
    info = type(prepared.target).metadata()
    feed = inputs.feed(info.name, prepared.signature)
    assert prepared.signature is not None
    arrays, runs = prepared.signature.checked(feed)
    begin = time.perf_counter()
    outputs = manager.execute(prepared, arrays)
    seconds = time.perf_counter() - begin
    samples = runs * prepared.signature.batch
    if output is not None:
        write_arrays(Path(output), outputs)
    return {
        "circuit": None,
        "target": f"{info.name}:{prepared.target.device_id}",
        "description": prepared.target.describe(),
        "samples": samples,
        "prepare_seconds": prepare_seconds,
        "execute_seconds": seconds,
        "output": output,
        "outputs": [
            {"name": name, "shape": list(values.shape), "dtype": str(values.dtype)}
            for name, values in outputs.items()
        ],
    }


@contextmanager
def _manager(device: str | None) -> Iterator[ResourceManager]:
    """Give a manager with that device, or the default one: that of `init` in this process, else of the settings."""
    from brainsmith.runtime.default import RUNTIME
    from brainsmith.runtime.resource_manager import ResourceManager

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
