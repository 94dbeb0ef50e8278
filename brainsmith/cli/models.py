"""What the verbs that execute a model take: the model or a build's folder, targets, and inputs that fit."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from brainsmith.cli.arrays import read_arrays
from brainsmith.errors import ModelError, UsageError
from brainsmith.runtime.default import get_registry
from brainsmith.runtime.devices import find_device

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from numpy.typing import NDArray

    from brainsmith.cli.arguments import Options
    from brainsmith.cli.terminal import Terminal
    from brainsmith.execution.signature import ModelSignature, TensorSpec

CIRCUIT = "rtlsim"
"""The target that runs a build's folder, and no model."""


def check_model(name: str) -> None:
    """Refuse, before anything is imported that takes long, a model that is not there.

    Raises:
        ModelError: It is neither a file nor a folder.
    """
    if not Path(name).exists():
        raise ModelError(f"{name}: there is no such file or folder")


@contextmanager
def resources(
    model: str, devices: Sequence[str], options: Options, terminal: Terminal
) -> Iterator[dict[str, str]]:
    """Give what each device runs: the model, or for a circuit the folder of its build.

    Args:
        model: An .onnx file, or a build's folder.
        devices: Such as `numpy` or `rtlsim:0`.
        options: With `--build`, the folder that circuits are run from; or `--blueprint`, what they are built with. That
            build goes to a folder that is removed at the end; its steps are kept, so the next time it takes little.
        terminal: Is told of the build.

    Raises:
        UsageError: A circuit is wanted, and there is neither a folder nor a blueprint; or one is given, and no circuit
            wanted; or the inputs are not there.
        DeviceError: There is no such device.
    """
    circuits = [device for device in devices if device.partition(":")[0] == CIRCUIT]
    folder, blueprint = options.text("--build"), options.text("--blueprint")
    if not circuits and (folder or blueprint):
        option = "--build" if folder else "--blueprint"
        raise UsageError(f"{option} is for {CIRCUIT}, which is not among the targets: {', '.join(devices)}")
    for device in devices:  # before anything is built for them
        find_device(device, get_registry().records)
    given = options.text("--input")
    if given is not None and not Path(given).is_file():
        raise UsageError(f"--input: {given} is not there")
    if Path(model).is_dir() or not circuits:
        folder = folder or model
    elif folder is None and blueprint is None:
        raise UsageError(
            f"target '{circuits[0]}' runs a circuit, and {model} is a model: say with --blueprint FILE what to build it "
            "with, or with --build DIR where it was built"
        )
    if folder is not None:
        yield _by_device(devices, circuits, model, folder)
        return
    assert blueprint is not None
    with tempfile.TemporaryDirectory(prefix="brainsmith-") as made:
        from brainsmith.build import build

        terminal.write_over(f"building {model} with {blueprint} ...")
        build(model, blueprint, Path(made) / "build", produce="rtl", report=False)
        terminal.write_over("")
        yield _by_device(devices, circuits, model, f"{made}/build")


def _by_device(devices: Sequence[str], circuits: Sequence[str], model: str, folder: str) -> dict[str, str]:
    return {device: folder if device in circuits else model for device in devices}


def read_inputs(name: str, signature: ModelSignature) -> dict[str, NDArray[Any]]:
    """Read a model's inputs from a file, in the types that it takes.

    Raises:
        UsageError: The file cannot be read, or holds values that the input's type does not.
    """
    arrays = read_arrays(name, [spec.name for spec in signature.inputs])
    return {spec.name: _typed(name, spec, arrays[spec.name]) for spec in signature.inputs}


def _typed(file: str, spec: TensorSpec, array: NDArray[Any]) -> NDArray[Any]:
    """Return an array in the type that an input takes; a number that was saved in a wider one may keep its value."""
    import numpy as np

    wanted = np.dtype(spec.dtype)
    if array.dtype == wanted or array.dtype.kind not in "biuf":
        return array
    with np.errstate(all="ignore"):
        converted = array.astype(wanted)
        kept = np.array_equal(converted.astype(array.dtype), array)
    if kept or array.dtype.kind == wanted.kind == "f":
        return converted
    raise UsageError(
        f"--input: {file} holds {array.dtype}, and input '{spec.name}' takes {spec.dtype}, which cannot hold its values"
    )
