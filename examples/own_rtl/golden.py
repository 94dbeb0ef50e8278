"""What saturate.sv must compute."""

import numpy as np


def saturate(x, OUT_BITS):
    """Clip to signed values of OUT_BITS bits."""
    return np.clip(x, -(2 ** (OUT_BITS - 1)), 2 ** (OUT_BITS - 1) - 1)
