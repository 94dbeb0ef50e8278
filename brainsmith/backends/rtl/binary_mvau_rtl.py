"""BinaryMVAURTL: FINN's MVAU kernel with 1-bit weights in RTL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from qonnx.core.datatype import DataType

from brainsmith.backends.rtl.binary_mvau_resources import in_block_ram, mvau_resources
from brainsmith.backends.rtl.embedded_matrix import EmbeddedMatrix
from brainsmith.errors import BuildError
from brainsmith.plugin.core import backend
from brainsmith.rtl.cores.node_support import SUPPORTED, Support, unsupported
from brainsmith.rtl.cores.tables import table_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt
    from qonnx.core.datatype import BaseDataType
    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.rtl.synthesis.cells import Resources

BYTE = 8


GROUP = 9
"""Bits that the core counts at once."""


@backend(
    kernel="finn:MVAU",
    backend_type="rtl",
    description="Products with a matrix of 1-bit weights: XNOR and popcount, or additions and subtractions",
    op_type="BinaryMVAU_rtl",
)
class BinaryMVAURTL(EmbeddedMatrix):
    """A matrix with weights -1 and 1 that lie in the core, whichever of FINN's internal memory modes the node has.

    Inputs are 1-bit too (the result is FINN's popcount), or integers (the result is the dot product).
    """

    core = "binary_mvau_core"
    parts = ("binary_mvau_replay.sv", "binary_mvau_sum.sv")

    @property
    def counts(self) -> bool:
        """Whether results are how many products are 1, as FINN's model does wherever inputs are 1-bit signs too."""
        return bool(self.get_nodeattr("binaryXnorMode")) or self.get_nodeattr("inputDataType") == "BIPOLAR"

    @classmethod
    def factors(cls, node: Any) -> Support:
        """Tell whether weights are signs."""
        kinds = (node.get_input_datatype(0).name, node.get_input_datatype(1).name)
        xnor = bool(node.get_nodeattr("binaryXnorMode"))
        if kinds == ("BINARY", "BINARY") if xnor else kinds[1] == "BIPOLAR":
            return SUPPORTED
        return unsupported(
            f"its weights are {kinds[1]} and its inputs {kinds[0]}{' in XNOR mode' if xnor else ''}, but its core "
            "takes weights that are BIPOLAR, or both BINARY in XNOR mode"
        )

    @classmethod
    def supports(cls, node: Any, part: str = "") -> Support:
        """Refuse weights of more bits, too, and an output that holds the results of no such weights."""
        found = super().supports(node, part)
        layer = cls(node.onnx_node, onnx_opset_version=node.onnx_opset_version)
        given = node.get_output_datatype()
        if not found or layer.counts:
            return found
        span = layer.products * int(node.get_input_datatype(0).max() - node.get_input_datatype(0).min())
        if given.max() - given.min() < span:
            return unsupported(
                f"its output is {given.name}, and whatever its weights are, its results span {span}"
            )
        return found

    def core_parameters(self) -> Mapping[str, int | str]:
        """Return sizes, folding, the input's datatype, and where the weights are."""
        kind = self.get_input_datatype(0)
        return {
            **{name: self.get_nodeattr(name) for name in ("MW", "MH", "SIMD", "PE")},
            "XNOR": int(self.counts),
            "IN_BITS": kind.bitwidth(),
            "IN_SIGNED": int(kind.signed() and not self.counts),
            "OUT_BITS": self.get_output_datatype().bitwidth(),
            "WEIGHTS": f"./{self.memory_file('weights')}",
            "BLOCK_ROM": int(in_block_ram(self)),
        }

    def core_memories(self, model: ModelWrapper) -> Mapping[str, str]:
        """Return the weights: a line for each step, all beats of the first rows first.

        Raises:
            BuildError: They are not all of their two values, or give results that the output cannot hold.
        """
        values, few = self.weights(model), (0, 1) if self.get_nodeattr("binaryXnorMode") else (-1, 1)
        if not np.isin(values, few).all():
            raise BuildError(
                f"layer {self.onnx_node.name!r}: all of its weights must be {few[0]} or {few[1]}"
            )
        self.check_results(values)
        text = weight_words(values > 0, self.get_nodeattr("SIMD"), self.get_nodeattr("PE"))
        return {self.memory_file("weights"): text}

    def pipeline(self) -> int:
        """Return the cycles of the memories, of counting bits or masking values, the tree of sums, and the sum so far."""
        sizes = self.core_parameters()
        counted = sizes["IN_BITS"] == 1 and not sizes["IN_SIGNED"]
        terms = -(-int(sizes["SIMD"]) // GROUP) if counted else int(sizes["SIMD"])
        return 2 + int(counted) + (terms - 1).bit_length() + (0 if sizes["XNOR"] else 1)

    def core_resources(self, family: str) -> Resources:
        """Return the input's and the weights' memories, the counters or adders, and their registers."""
        return mvau_resources(self, family, self.counts)

    def minimize_weight_bit_width(self, model: ModelWrapper, datatype_only: bool = False) -> BaseDataType:
        """Return the weights' datatype as it is: nothing is narrower than one bit, and FINN would make INT2 of -1 and 1."""
        return DataType[self.get_nodeattr("weightDataType")]

    def minimize_accumulator_width(self, model: ModelWrapper, datatype_only: bool = False) -> BaseDataType:
        """Set accumulator and output to what results need; counts reach MW, which FINN's own rule does not regard."""
        if not self.counts:
            return super().minimize_accumulator_width(model, datatype_only)
        bits = int(self.get_nodeattr("MW")).bit_length()
        if not model.find_direct_successors(self.onnx_node):
            bits = -(-bits // BYTE) * BYTE
        for name in ("accDataType", "outputDataType"):
            self.set_nodeattr(name, f"UINT{bits}")
        return DataType[f"UINT{bits}"]


def weight_words(ones: npt.NDArray[np.bool_], simd: int, pe: int) -> str:
    """Return the content of the core's memory, as `$readmemh` reads it.

    Args:
        ones: Where the weight is 1, (MH, MW).
        simd: Columns of the matrix in a word.
        pe: Rows in a word.
    """
    height, width = ones.shape
    words = ones.reshape(height // pe, pe, width // simd, simd).transpose(0, 2, 1, 3).reshape(-1, pe * simd)
    return table_text(words, DataType["BINARY"])
