"""Functions on images, and those that end a classifier; users find them in `functional`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brainsmith.autodiff.calls import run_op
from brainsmith.autodiff.primitives import gathers, images, movements

if TYPE_CHECKING:
    from brainsmith.autodiff.primitives.windows import Pair


def conv2d(x: Any, weight: Any, stride: Pair = 1, padding: Pair = 0, groups: int = 1) -> Any:
    """Return the cross-correlation of images (N, C, H, W) with weights (O, C / groups, KH, KW)."""
    return run_op(images.CONV2D, (x, weight), {"stride": stride, "padding": padding, "groups": groups})


def max_pool2d(x: Any, kernel: Pair = 2, stride: Pair | None = None, padding: Pair = 0) -> Any:
    """Return the greatest value of each window of images; of equal ones the first has the gradient."""
    return run_op(images.MAX_POOL2D, (x,), {"kernel": kernel, "stride": stride, "padding": padding})


def global_average_pool(x: Any) -> Any:
    """Return the mean of each channel of images, (N, C, 1, 1)."""
    return run_op(images.GLOBAL_AVERAGE_POOL, (x,))


def flatten(x: Any) -> Any:
    """Return each sample as one row, (N, everything)."""
    return run_op(movements.FLATTEN, (x,))


def top_k(x: Any, k: int = 1) -> Any:
    """Return the k greatest values of each row, the greatest first, of equals the first; and their indices."""
    return run_op(gathers.TOP_K, (x,), {"k": k})
