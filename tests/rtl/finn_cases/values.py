"""FINN's datatypes as the integers that lie in a stream, and back."""

import numpy as np

_FLOATS = {"FLOAT32": np.float32, "FLOAT16": np.float16}
_BITS = {"FLOAT32": np.uint32, "FLOAT16": np.uint16}


def encode(values, kind):
    """Return the integers that stand for a tensor's values in a stream."""
    if kind.name in _FLOATS:
        return np.ascontiguousarray(values, _FLOATS[kind.name]).view(_BITS[kind.name]).astype(np.int64)
    if kind.name == "BIPOLAR":
        return ((values + 1) / 2).astype(np.int64)
    scale = kind.scale_factor() if kind.is_fixed_point() else 1
    return np.rint(np.asarray(values, np.float64) / scale).astype(np.int64)


def decode(integers, kind):
    """Return a tensor's values from what lies in a stream, which `unpack` has read with `signed(kind)`."""
    if kind.name in _FLOATS:
        return integers.astype(_BITS[kind.name]).view(_FLOATS[kind.name]).astype(np.float32)
    if kind.name == "BIPOLAR":
        return 2.0 * (integers & 1) - 1
    return integers * (kind.scale_factor() if kind.is_fixed_point() else 1.0)


def signed(kind):
    """Tell whether a stream's integers are in two's complement."""
    return kind.name not in (*_FLOATS, "BIPOLAR") and bool(kind.signed())


def random_values(rng, kind, shape):
    """Return random values of a datatype; some are its least and its greatest."""
    if kind.name in _FLOATS:
        values = rng.normal(0, 100, shape).astype(_FLOATS[kind.name]).astype(np.float32)
    elif kind.name == "BIPOLAR":
        return rng.choice([-1.0, 1.0], shape).astype(np.float32)
    else:
        scale = kind.scale_factor() if kind.is_fixed_point() else 1
        least, greatest = round(kind.min() / scale), round(kind.max() / scale)
        values = (rng.integers(least, greatest + 1, shape) * scale).astype(np.float32)
    edge = rng.random(shape)
    return np.where(edge < 0.1, kind.min(), np.where(edge > 0.9, kind.max(), values)).astype(np.float32)
