"""FINN's packing of integers into hexadecimal words, for all words at once instead of one by one."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import ModuleType

MOST_BITS = 53
"""Of an integer that float64 holds."""


def mend_packing(module: ModuleType) -> None:
    """Let FINN pack the last axis of an array of integers at once; what is no such array is packed as before.

    The words are the same, letter for letter, but for integers in float64 that float32 does not hold, such as thresholds
    beyond 2^24: FINN rounds them. FINN+ 1.6.1 takes 18 microseconds for each value.
    """
    one_by_one = module.pack_innermost_dim_as_hex_string

    @wraps(one_by_one)
    def pack_innermost_dim_as_hex_string(
        ndarray: Any, dtype: Any, pad_to_nbits: int, reverse_inner: bool = False, prefix: str = "0x"
    ) -> Any:
        found = packed(ndarray, dtype, pad_to_nbits, reverse_inner, prefix)
        return one_by_one(ndarray, dtype, pad_to_nbits, reverse_inner, prefix) if found is None else found

    module.pack_innermost_dim_as_hex_string = pack_innermost_dim_as_hex_string  # type: ignore[attr-defined]


def packed(values: Any, datatype: Any, bits: int, backwards: bool, prefix: str) -> Any:
    """Return the last axis of an array as words of hexadecimal digits, its first value in the highest bits.

    For example, 3 and -1 of INT4 in 12 bits are `03f`, and backwards `0f3`.

    Args:
        values: At least one value, of any shape.
        datatype: QONNX's.
        bits: Of a word; zeros fill it up in front.
        backwards: Whether the last value comes first.
        prefix: Of each word.

    Returns:
        None for values that are no integers of the datatype, for datatypes of more than `MOST_BITS`, and for words that
        are too short or no whole digits.
    """
    import numpy as np  # a mend comes before numpy is wanted

    array = np.asarray(values)
    if array.dtype != np.float64:
        array = np.asarray(values, np.float32)
    if not array.size or not datatype.is_integer() or datatype.is_fixed_point():
        return None
    bipolar, width = datatype.name == "BIPOLAR", int(datatype.bitwidth())
    allowed = (array == np.rint(array)) & (array >= datatype.min()) & (array <= datatype.max())
    bits = max(bits, 4)
    if not array.ndim or not allowed.all() or (bipolar and not array.all()):
        return None
    if width > MOST_BITS or array.shape[-1] * width > bits or bits % 4:
        return None
    numbers = array.astype(np.int64).reshape(-1, array.shape[-1])
    numbers = np.flip(numbers, 1) if backwards else numbers
    places = np.arange(width - 1, -1, -1)
    lanes = (((numbers + 1) // 2 if bipolar else numbers)[:, :, None] >> places & 1).astype(np.uint8)
    words = np.zeros((len(numbers), bits + bits % 8), np.uint8)
    words[:, words.shape[1] - array.shape[-1] * width :] = lanes.reshape(len(numbers), -1)
    digits = np.packbits(words, axis=1).tobytes().hex()
    of_one, spare = words.shape[1] // 4, bits % 8 // 4
    texts = [prefix + digits[at + spare : at + of_one] for at in range(0, len(digits), of_one)]
    return np.asarray(texts).reshape(array.shape[:-1])
