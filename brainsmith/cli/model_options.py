"""What the verbs that execute a model take: the model or a build's folder, and which target runs which."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from brainsmith.errors import ModelError, TargetUnavailableError, UnsupportedResourceError, UsageError
from brainsmith.runtime.default import get_registry
from brainsmith.runtime.devices import find_device

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from brainsmith.cli.array_options import Inputs
    from brainsmith.cli.command_line import Options
    from brainsmith.cli.terminal import Terminal
    from brainsmith.runtime.devices import Device

HINT = "for a target that runs a build's folder, name one with --build DIR, or have one made with --blueprint FILE"
"""The advice where a target cannot run a model."""


def check_model(name: str) -> None:
    """Refuse, before anything is imported that takes long, a model that does not exist.

    Raises:
        ModelError: It is neither a file nor a folder.
    """
    if not Path(name).exists():
        raise ModelError(f"{name}: there is no such file or folder")


@contextmanager
def resources(
    model: str, devices: Sequence[str], options: Options, terminal: Terminal, inputs: Inputs | None
) -> Iterator[dict[str, str]]:
    """Give what each device runs: the model, or the folder of its build where the target supports that.

    Whatever can be refused is refused before a build begins.

    Args:
        model: An .onnx file, or a build's folder.
        devices: Such as `numpy` or `rtlsim:0`.
        options: With `--build`, the folder; or `--blueprint`, what the model is built with, and then the folder is
            removed at the end.
        terminal: Shows the build's progress.
        inputs: What the model is given; None for random ones.

    Raises:
        UsageError: Options contradict each other; no target runs a folder, and one is given; it is another model's.
        InputError: The inputs are not the model's, which is built.
        DeviceError: There is no such device.
        TargetUnavailableError: One cannot be used here.
        UnsupportedResourceError: The target does not support what it is given.
    """
    folder, blueprint = options.text("--build"), options.text("--blueprint")
    _check_options(model, folder, blueprint)
    found = {name: find_device(name, get_registry().records) for name in devices}
    _check_available(found)
    if folder is not None:
        yield _by_device(model, folder, found)
    elif blueprint is not None:
        others = [name for name, device in found.items() if _why_not(device, model)]
        if not others:
            raise UsageError(
                f"--blueprint is for targets that run a build's folder, and {_listed(found)} the model itself"
            )
        if inputs is not None:
            inputs.check(model)
        from brainsmith.cli.own_build import built

        with built(model, blueprint, terminal) as made:
            runs = [name for name in others if not _why_not(found[name], made)]
            yield {name: made if name in runs else model for name in devices}
    else:
        try:
            yield dict.fromkeys(devices, model)
        except UnsupportedResourceError as error:
            if Path(model).is_dir():
                raise
            raise UnsupportedResourceError(f"{error}\n  {HINT}") from error


def is_without_build(model: str, each: Mapping[str, str]) -> bool:
    """Return whether a model is run as it is, so that a build might help a target that does not support it."""
    return set(each.values()) == {model} and not Path(model).is_dir()


def _check_options(model: str, folder: str | None, blueprint: str | None) -> None:
    if folder is not None and blueprint is not None:
        raise UsageError(
            "--build and --blueprint exclude each other: one names a build, the other has one made"
        )
    if Path(model).is_dir() and (folder or blueprint):
        option = f"--build {folder}" if folder else f"--blueprint {blueprint}"
        raise UsageError(f"{model} is a folder, which is run as it is, so {option} cannot be given too")
    if folder is not None and not Path(folder).is_dir():
        raise UsageError(f"--build must be a folder, not {folder}")
    if blueprint is not None and not Path(blueprint).is_file():
        raise UsageError(f"--blueprint: {blueprint} does not exist")


def _check_available(found: Mapping[str, Device]) -> None:
    for device in found.values():
        if device.target is None:
            continue
        reason = get_registry().why_unavailable(device.target, {"device_id": device.device_id})
        if reason:
            raise TargetUnavailableError(f"target '{device.target.name}' cannot be used here: {reason}")


def _by_device(model: str, folder: str, found: Mapping[str, Device]) -> dict[str, str]:
    """Return the folder for each device whose target supports it, and the model for all others."""
    reasons = {name: _why_not(device, folder) for name, device in found.items()}
    if all(reasons.values()):
        listed = "".join(f"\n  {name}: {reason}" for name, reason in reasons.items())
        raise UsageError(f"--build: no target given runs {folder}:{listed}")
    from brainsmith.cli.built_model import check_built_of

    check_built_of(model, folder)
    return {name: model if reason else folder for name, reason in reasons.items()}


def _why_not(device: Device, resource: str) -> str:
    """Return why a device does not run a resource: a choice among several targets is made for a model."""
    if device.target is None:
        return (
            ""
            if Path(resource).is_file()
            else "among several targets the best for the model is chosen, so it gets the model"
        )
    return get_registry().why_unsupported(device.target, resource, {"device_id": device.device_id})


def _listed(found: Mapping[str, Device]) -> str:
    return f"{' and '.join(found)} {'runs' if len(found) == 1 else 'run'}"
