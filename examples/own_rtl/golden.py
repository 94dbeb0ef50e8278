"""What saturate.sv must compute."""

import numpy as np
from numpy.typing import NDArray


def saturate(x: NDArray[np.int64], OUT_BITS: int) -> NDArray[np.int64]:
    """Clip to signed values of OUT_BITS bits."""
    return np.clip(x, -(2 ** (OUT_BITS - 1)), 2 ** (OUT_BITS - 1) - 1)
