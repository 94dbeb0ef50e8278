"""Arrays in files, as the verbs that run something read and write them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith.errors import OutputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from numpy.typing import NDArray


def read_arrays(name: str, inputs: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Read the inputs of something from a file: one array (.npy), or one for each input by its name (.npz).

    Raises:
        UsageError: It cannot be read, or holds others; the message begins with --input.
    """
    from zipfile import BadZipFile

    import numpy as np

    try:
        values = np.load(name, allow_pickle=False)
        arrays = {"": values} if isinstance(values, np.ndarray) else dict(values)
    except FileNotFoundError as error:
        raise UsageError(f"--input: {name} is not there") from error
    except OSError as error:
        raise UsageError(f"--input: {name} cannot be read: {error.strerror}") from error
    except (ValueError, EOFError, BadZipFile) as error:
        raise UsageError(f"--input: {name} is no .npy or .npz file of plain numbers") from error
    if len(inputs) == 1 and len(arrays) == 1:
        return {inputs[0]: next(iter(arrays.values()))}
    if set(arrays) != set(inputs):
        what = f"the arrays {', '.join(arrays)}" if "" not in arrays else "one array"
        raise UsageError(
            f"--input: {name} holds {what}, and the inputs are {', '.join(inputs)}\n"
            "  give an .npz file with an array of each name: numpy.savez"
        )
    return arrays


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
