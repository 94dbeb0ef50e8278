"""Read one array of golden data: from a file, or as it was given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from brainsmith.array_files import ALONE, load_arrays, load_one_array, named_arrays
from brainsmith.errors import ArrayFileError, BuildError
from brainsmith.graph.array_types import Array

REAL = "biuf"
"""The kinds of NumPy types that hold real numbers."""


def name_of(source: object) -> str:
    """Return what golden data are called in messages."""
    return str(source) if isinstance(source, (str, Path)) else "the given array"


def read_array(source: str | Path | Array | None, what: str) -> Array:
    """Return golden data from a file, or as they were given.

    Args:
        source: A .npy file, an .npz file with one array, or an array.
        what: What they are, for messages.

    Raises:
        BuildError: They cannot be read, or are no real numbers.
    """
    array = array_of_any_type(source, what)
    if array.dtype.kind in REAL:
        return array
    if isinstance(source, (str, Path)):
        raise BuildError(f"verify {what}: {source} holds {array.dtype}, not real numbers")
    raise _no_array(what, array.dtype)


def array_of_any_type(source: str | Path | Array | None, what: str) -> Array:
    """Return golden data as `read_array` does, whatever the array holds.

    Raises:
        BuildError: They cannot be read, or are no array.
    """
    if isinstance(source, (str, Path)):
        try:
            return load_one_array(source)
        except ArrayFileError as error:
            raise BuildError(f"verify {what}: {error}") from error
    if not isinstance(source, np.ndarray):
        raise _no_array(what, type(source).__name__)
    return source


def arrays_of(source: str | Path | Array | Mapping[str, Array], inputs: Sequence[str]) -> dict[str, Array]:
    """Return the golden inputs by the model's inputs, whatever the arrays hold.

    Args:
        source: A file or an array for one input; for several an .npz file, or a mapping, with an array of each name.
        inputs: The model's, by name.

    Raises:
        BuildError: They cannot be read, or are those of other inputs.
    """
    try:
        if isinstance(source, Mapping):
            arrays = {str(name): np.asarray(values) for name, values in source.items()}
        elif len(inputs) == 1:
            return {inputs[0]: array_of_any_type(source, "inputs")}
        else:
            arrays = load_arrays(source) if isinstance(source, (str, Path)) else {ALONE: source}
        return named_arrays(arrays, inputs, name_of(source))
    except ArrayFileError as error:
        raise BuildError(f"verify inputs: {error}") from error


def _no_array(what: str, found: object) -> BuildError:
    return BuildError(f"verify {what} must be real numbers, not {found}: a .npy file or an array")


def finite(data: Array, source: object, name: str = "") -> Array:
    """Return samples; not a number, or infinite, they would make steps look wrong that are right.

    Args:
        data: (samples, ...).
        source: What holds them.
        name: Of the input that they are for.
    """
    if not data.ndim:
        raise BuildError(f"{name_of(source)} holds a single number, not one for each sample")
    bad = np.flatnonzero(~np.isfinite(data.reshape(len(data), -1)).all(axis=1))
    if len(bad):
        of = f" for input '{name}'" if name else ""
        raise BuildError(
            f"{name_of(source)} holds values{of} that are not finite, in {len(bad)} of {len(data)} samples, "
            f"first in sample {bad[0]}"
        )
    return data
