"""Read files of arrays, .npy and .npz: those of `--input`, golden data, and what steps read again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith.errors import ArrayFileError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from numpy.typing import NDArray

ALONE = ""
"""The name of an array that has none: that of an .npy file."""


def load_arrays(file: str | Path) -> dict[str, NDArray[Any]]:
    """Read what a file holds: one array (.npy), or several by name (.npz).

    Raises:
        ArrayFileError: It cannot be read; the message begins with the file's name.
    """
    import zlib
    from pathlib import Path
    from zipfile import BadZipFile

    import numpy as np

    try:
        with Path(file).open("rb") as opened:  # NumPy leaves open what it opens and cannot read
            values = np.load(opened, allow_pickle=False)
            return {ALONE: values} if isinstance(values, np.ndarray) else dict(values)
    except FileNotFoundError as error:
        raise ArrayFileError(f"{file} does not exist") from error
    except IsADirectoryError as error:
        raise ArrayFileError(f"{file} is a folder, and arrays are in an .npy or .npz file") from error
    except OSError as error:
        raise ArrayFileError(f"{file} cannot be read: {error.strerror or error}") from error
    except MemoryError as error:
        raise ArrayFileError(
            f"{file} states an array for which there is no memory; it is damaged, or too large"
        ) from error
    except (zlib.error, NotImplementedError, RuntimeError) as error:  # RuntimeError: it is encrypted
        raise ArrayFileError(f"{file} cannot be unpacked: {error}") from error
    except (ValueError, EOFError, BadZipFile) as error:
        raise ArrayFileError(f"{file} is not an .npy or .npz file of plain numbers") from error


def named_arrays(
    arrays: Mapping[str, NDArray[Any]], names: Sequence[str], source: str
) -> dict[str, NDArray[Any]]:
    """Return arrays by the names of a model's inputs; one without a name is that of the one input.

    Args:
        arrays: As `load_arrays` gives them.
        names: Of the inputs.
        source: What the arrays were read from, for the message.

    Raises:
        ArrayFileError: There are others; the message begins with the source.
    """
    if len(names) == 1 and set(arrays) == {ALONE}:
        return {names[0]: arrays[ALONE]}
    if set(arrays) == set(names):
        return dict(arrays)
    listed = f"the array{'s' if len(arrays) > 1 else ''} {', '.join(arrays)}" if arrays else "no array"
    found = "one array" if ALONE in arrays else listed
    if len(names) > 1:
        needed = (
            f"the inputs are {', '.join(names)}\n  give an .npz file with an array of each name: numpy.savez"
        )
    else:
        needed = (
            f"the input is {names[0]}\n"
            "  give an .npz file with an array of that name, or an .npy file with the array alone"
        )
    raise ArrayFileError(f"{source} holds {found}, and {needed}")


def is_npy(file: str | Path) -> bool:
    """Return whether a file holds one array as .npy does, whatever its name is.

    Raises:
        OSError: It cannot be read.
    """
    from pathlib import Path

    with Path(file).open("rb") as opened:
        return opened.read(6) == b"\x93NUMPY"


def load_one_array(file: str | Path) -> NDArray[Any]:
    """Read a file that holds one array: an .npy file, or an .npz file with one, whatever its name.

    Raises:
        ArrayFileError: It cannot be read, or holds none or several; the message begins with the file's name.
    """
    arrays = load_arrays(file)
    if len(arrays) != 1:
        listed = f"the arrays {', '.join(arrays)}" if arrays else "no array"
        raise ArrayFileError(
            f"{file} holds {listed}, and one array is needed: give a file with this one alone"
        )
    return next(iter(arrays.values()))
