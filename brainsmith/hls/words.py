"""Values of any datatype as the beats of a stream of `ap_uint`, and back: the first lane lies in the lowest bits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.rtl.simulation.beats import pack, unpack

if TYPE_CHECKING:
    import numpy.typing as npt
    from qonnx.core.datatype import BaseDataType

FLOAT = "FLOAT32"
FLOAT_BITS = 32


def to_words(folded: npt.NDArray[Any], datatype: BaseDataType) -> npt.NDArray[np.uint8]:
    """Return beats of values, whose last dimension is the lanes of a beat.

    Raises:
        ValueError: A value is not whole or does not fit.
    """
    if datatype.name == FLOAT:
        return pack(np.ascontiguousarray(folded, np.float32).view(np.uint32), FLOAT_BITS)
    if datatype.name == "BIPOLAR":
        folded = (folded + 1) / 2
    return pack(folded, datatype.bitwidth())


def from_words(words: npt.NDArray[np.uint8], datatype: BaseDataType, lanes: int) -> npt.NDArray[Any]:
    """Return the values in beats: (beats, lanes)."""
    if datatype.name == FLOAT:
        return unpack(words, FLOAT_BITS, lanes, signed=False).astype(np.uint32).view(np.float32)
    values = unpack(words, datatype.bitwidth(), lanes, datatype.signed() and datatype.name != "BIPOLAR")
    return 2 * values - 1 if datatype.name == "BIPOLAR" else values
