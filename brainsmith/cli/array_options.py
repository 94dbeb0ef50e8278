"""Arrays in files, as the verbs that run something read and write them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith import array_files
from brainsmith.array_files import ALONE
from brainsmith.errors import ArrayFileError, OutputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from numpy.typing import NDArray


def load_arrays(name: str) -> dict[str, NDArray[Any]]:
    """Read what a file holds: one array (.npy), or several by name (.npz).

    Raises:
        UsageError: It cannot be read; the message begins with --input.
    """
    try:
        return array_files.load_arrays(name)
    except ArrayFileError as error:
        raise UsageError(f"--input: {error}") from error


def named_arrays(
    name: str, arrays: Mapping[str, NDArray[Any]], inputs: Sequence[str]
) -> dict[str, NDArray[Any]]:
    """Return a file's arrays by the inputs' names; the one array of an .npy file is that of the one input.

    Args:
        name: Of the file.
        arrays: As `load_arrays` gives them.
        inputs: Their names.

    Raises:
        UsageError: There are others; the message begins with --input.
    """
    if len(inputs) == 1 and set(arrays) == {ALONE}:
        return {inputs[0]: arrays[ALONE]}
    if set(arrays) != set(inputs):
        listed = f"the array{'s' if len(arrays) > 1 else ''} {', '.join(arrays)}" if arrays else "no array"
        what = "one array" if ALONE in arrays else listed
        told = f"the inputs are {', '.join(inputs)}" if len(inputs) > 1 else f"the input is {inputs[0]}"
        raise UsageError(
            f"--input: {name} holds {what}, and {told}\n  {_ADVICE if len(inputs) > 1 else _ADVICE_ONE}"
        )
    return dict(arrays)


_ADVICE = "give an .npz file with an array of each name: numpy.savez"
_ADVICE_ONE = "give an .npz file with an array of that name, or an .npy file with the array alone"


def read_arrays(name: str, inputs: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Read the inputs of something from a file: one array (.npy), or one for each input by its name (.npz).

    Raises:
        UsageError: It cannot be read, or holds others; the message begins with --input.
    """
    return named_arrays(name, load_arrays(name), inputs)


def check_output(path: Path) -> None:
    """Refuse, before anything runs, a file that cannot be written.

    Raises:
        OutputError: It is a folder, or lies in none.
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
    shown = [f"{values.shape} {values.dtype}" for values in arrays.values()]
    return shown[0] if len(shown) == 1 else ", ".join(f"{n} {t}" for n, t in zip(arrays, shown, strict=True))
