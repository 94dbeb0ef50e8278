"""Which datatypes kernels produce; without FINN, so that inference transforms can ask too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith.rtl.cores.integers import integer_datatype

if TYPE_CHECKING:
    from qonnx.core.datatype import BaseDataType


def product_datatype(lhs: BaseDataType, rhs: BaseDataType, depth: int) -> BaseDataType:
    """Return the smallest integer datatype that holds every sum of `depth` products of two others."""
    products = [int(one) * int(other) for one in (lhs.min(), lhs.max()) for other in (rhs.min(), rhs.max())]
    return integer_datatype(depth * min(products), depth * max(products))
