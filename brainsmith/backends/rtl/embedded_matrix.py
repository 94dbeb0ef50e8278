"""EmbeddedMatrix: the base of RTL backends of FINN's MVAU, which hold the matrix inside."""

from __future__ import annotations

from abc import abstractmethod
from math import prod
from typing import TYPE_CHECKING, Any

from finn.custom_op.fpgadataflow.matrixvectoractivation import MVAU

from brainsmith.backends.rtl.embedded_products import EmbeddedProducts
from brainsmith.rtl.cores.parallelism import Parallelism, divisors
from brainsmith.rtl.timing.beat_schedule import BeatSchedule, replayed

if TYPE_CHECKING:
    import numpy.typing as npt

NARROW_SIMD = 64
"""Up to here folding raises SIMD before PE: wider beats cost more in the layers around than more rows do."""


class EmbeddedMatrix(EmbeddedProducts, MVAU):
    """`PE` rows of the matrix at once, and `SIMD` values of a vector."""

    @property
    def products(self) -> int:
        """The values of a vector."""
        return int(self.get_nodeattr("MW"))

    @property
    def rows(self) -> int:
        """The rows of the matrix, as hardware has them: one for each result."""
        return int(self.get_nodeattr("MH"))

    def weight_rows(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the constants of the node, (MW, MH), as (MH, MW)."""
        return values.T

    @abstractmethod
    def pipeline(self) -> int:
        """Return the cycles from the last beat of a vector, as it is read, to its result."""

    def beat_schedule(self) -> BeatSchedule:
        """Return that two vectors are stored, and each is read once for each group of rows."""
        beats = self.products // int(self.get_nodeattr("SIMD"))
        folds = self.rows // int(self.get_nodeattr("PE"))
        vectors = prod(map(int, self.get_nodeattr("numInputVectors")))
        return replayed(vectors, beats, folds, 2 * beats, wait=1, delay=self.pipeline(), whole=True)

    def parallelism(self) -> tuple[Parallelism, ...]:
        """Return SIMD up to 64 values, then PE, then the rest of SIMD."""
        simd, pe = divisors(self.products), divisors(self.rows)
        narrow = tuple(value for value in simd if value <= NARROW_SIMD)
        found = [Parallelism("SIMD", narrow), Parallelism("PE", pe)]
        if len(narrow) < len(simd):
            found.append(Parallelism("SIMD", simd[len(narrow) - 1 :]))
        return tuple(found)
