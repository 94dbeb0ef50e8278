"""Arrays in files, as the verbs that run something read and write them: `--input` and `--output`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith.array_files import load_arrays, named_arrays
from brainsmith.errors import ArrayFileError, InputError, OutputError, TargetError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from numpy.typing import NDArray

    from brainsmith.execution.signature import ModelSignature, TensorSpec


class Inputs:
    """The arrays of the file that `--input` names, read once, before anything that takes long.

    Args:
        name: Of the file.

    Raises:
        UsageError: It cannot be read.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        try:
            self._arrays = load_arrays(name)
        except ArrayFileError as error:
            raise UsageError(f"--input: {error}") from error

    def named(self, inputs: Sequence[str]) -> dict[str, NDArray[Any]]:
        """Return the arrays by the inputs' names; the one array of an .npy file is that of the one input.

        Raises:
            UsageError: The file holds others.
        """
        try:
            return named_arrays(self._arrays, inputs, self.name)
        except ArrayFileError as error:
            raise UsageError(f"--input: {error}") from error

    def check(self, model: str) -> None:
        """Refuse what cannot be the input of a model.

        Args:
            model: The path of an .onnx file.

        Raises:
            ModelError: It cannot be read.
            UsageError: The file holds other arrays, or values that an input's type does not.
            InputError: An array has a wrong shape.
        """
        from brainsmith.execution.model_signature import signature_of
        from brainsmith.execution.read_model import read_model

        signature = signature_of(read_model(model))
        signature.checked(self.feed("", signature))

    def feed(self, device: str, signature: ModelSignature | None) -> dict[str, NDArray[Any]]:
        """Return a model's inputs by name, in the types that it takes.

        Args:
            device: Whose signature it is.
            signature: What its target states.

        Raises:
            UsageError: The file holds other arrays, or values that an input's type does not.
            TargetError: The target does not say what the inputs are.
        """
        if signature is None:
            raise TargetError(f"target '{device}' does not say what the model's inputs are")
        arrays = self.named([spec.name for spec in signature.inputs])
        return {spec.name: self._typed(spec, arrays[spec.name]) for spec in signature.inputs}

    def _typed(self, spec: TensorSpec, array: NDArray[Any]) -> NDArray[Any]:
        try:
            return spec.of_type(array, f"--input: {self.name}")
        except InputError as error:
            raise UsageError(str(error)) from error


def check_output(path: Path) -> None:
    """Refuse, before anything runs, a file that cannot be written.

    Raises:
        OutputError: It is a folder, or its folder does not exist.
    """
    if path.is_dir() or not path.absolute().parent.is_dir():
        what = "it is a folder" if path.is_dir() else f"there is no folder {path.parent}"
        raise OutputError(f"--output: {path} cannot be written: {what}")


def write_arrays(path: Path, outputs: Mapping[str, NDArray[Any]]) -> None:
    """Write outputs: one array (.npy), or an .npz file where there are several.

    Raises:
        OutputError: The file cannot be written.
    """
    import numpy as np

    try:
        with path.open("wb") as file:
            if len(outputs) == 1:
                np.save(file, next(iter(outputs.values())))
            else:
                np.savez(file, allow_pickle=False, **outputs)
    except OSError as error:
        raise OutputError(f"--output: {path} cannot be written: {error.strerror}") from error


def described(arrays: Mapping[str, NDArray[Any]]) -> str:
    """Return shapes and types, with the names where there are several."""
    names = [f"{name} " if len(arrays) > 1 else "" for name in arrays]
    return ", ".join(f"{name}{a.shape} {a.dtype}" for name, a in zip(names, arrays.values(), strict=True))
