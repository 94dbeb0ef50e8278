"""Tables inside cores: what they hold, what they are made of, and what that costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.errors import BuildError
from brainsmith.rtl.cores.costs import chosen_luts, mapped_blocks
from brainsmith.rtl.resource_models.circuit_sizes import distinct_functions, table_luts
from brainsmith.rtl.synthesis.cells import Resources

if TYPE_CHECKING:
    from numpy.typing import NDArray

FEW_WORDS, FEW_BITS = 32, 1024
"""A table of no more of either is better kept in LUTs than in a block RAM."""


@dataclass(frozen=True)
class Table:
    """A table that is read and never written, its words registered after it (`constant_rom.sv`, `table_in_step.sv`).

    Attributes:
        bits: Of a word.
        depth: Words.
        style: `block` or `distributed`.
    """

    bits: int
    depth: int
    style: str

    @property
    def registered(self) -> bool:
        """Whether there is a register behind it, as behind block RAM; words in order are then read two words ahead."""
        return self.style == "block" and self.depth > 1

    @property
    def begin(self) -> int:
        """The first cycle after the reset in which a core can use the first word, of those that come in order."""
        return 2 if self.registered else 0

    def resources(self, family: str) -> Resources:
        """Return what it needs: LUTs of 64 words of each bit and its register, or the fewest block RAMs.

        Columns of bits that are equal are stored once, and those of only 0 or only 1 need nothing.
        """
        if self.depth == 1:
            return Resources()
        if self.style == "distributed":
            different = round(float(distinct_functions(self.depth, self.bits)))
            return Resources(lut=different * max(int(table_luts(self.depth)), 1), ff=different)
        return in_block_rams(self.depth, self.bits, family)


def in_block_rams(depth: int, bits: int, family: str) -> Resources:
    """Return what a table in block RAM needs: what chooses between its parts, if Yosys cuts it, and which one was read.

    Args:
        depth: Words.
        bits: Of a word.
        family: Of the part.
    """
    blocks = mapped_blocks(depth, bits, family, written=False)
    parts = int(blocks.parts)
    return Resources(lut=chosen_luts(parts, bits), ff=(parts - 1).bit_length(), bram18=int(blocks.bram18))


def make_table(bits: int, depth: int, ram_style: str) -> Table:
    """Choose what a table is made of.

    Args:
        bits: Of a word.
        depth: Words.
        ram_style: The node's attribute; `auto` takes LUTs for up to 32 words or 1,024 bits, and block RAM for more.
    """
    if ram_style == "auto":
        ram_style = "distributed" if depth <= FEW_WORDS or bits * depth <= FEW_BITS else "block"
    return Table(bits, depth, ram_style)


def table_text(words: NDArray[Any], kind: Any, what: str = "a table") -> str:
    """Return a table's content as `$readmemh` reads it.

    Args:
        words: (words, values of one), whole numbers of the datatype; the first value gets the lowest bits.
        kind: QONNX's datatype of the values.
        what: Whose table it is, for the error.

    Raises:
        BuildError: A value is a fraction, or outside of the datatype.
    """
    wrong = np.asarray(words)[~_allowed(np.asarray(words), kind)]
    if wrong.size:
        raise BuildError(f"{what} of {kind.name} cannot hold {float(wrong[0]):g}")
    bits, bipolar = int(kind.bitwidth()), kind.name == "BIPOLAR"
    digits = -(-bits * words.shape[1] // 4)
    mask = (1 << bits) - 1
    lines = []
    for word in np.asarray(words, np.int64).tolist():
        values = [value > 0 for value in word] if bipolar else [value & mask for value in word]
        lines.append(f"{sum(value << bits * at for at, value in enumerate(values)):0{digits}x}\n")
    return "".join(lines)


def _allowed(words: NDArray[Any], kind: Any) -> NDArray[np.bool_]:
    """Tell which values are whole numbers of a datatype; BIPOLAR has no 0."""
    inside = (words == np.rint(words)) & (words >= kind.min()) & (words <= kind.max())
    return np.asarray(inside & (words != 0) if kind.name == "BIPOLAR" else inside)
