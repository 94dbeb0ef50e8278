"""EmbeddedVVAURTL: FINN's VVAU kernel, a depthwise convolution, in RTL for every part."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from finn.custom_op.fpgadataflow.vectorvectoractivation import VVAU
from qonnx.core.datatype import DataType

from brainsmith.backends.rtl.embedded_vvau_resources import vvau_resources, weight_table
from brainsmith.errors import BuildError
from brainsmith.plugin.core import backend
from brainsmith.plugin.info import Priority
from brainsmith.rtl.cores.backend import CoreBackend
from brainsmith.rtl.cores.integers import integer_datatype
from brainsmith.rtl.cores.node_support import Support, unsupported
from brainsmith.rtl.cores.parallelism import Parallelism, divisors
from brainsmith.rtl.cores.tables import table_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt
    from qonnx.core.datatype import BaseDataType
    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.rtl.synthesis.cells import Resources

INTERNAL = ("internal_embedded", "internal_decoupled")


@backend(
    kernel="finn:VVAU",
    backend_type="rtl",
    description="Depthwise convolution of windows, its weights inside, on every part",
    requires=("finn-plus",),
    domain="finn.custom_op.fpgadataflow.rtl",
    op_type="EmbeddedVVAU_rtl",
    priority=Priority.LOW,  # behind FINN's, which takes three products into a DSP slice of Versal
)
class EmbeddedVVAURTL(CoreBackend, VVAU):
    """`PE` channels at once and `SIMD` positions of their windows, behind a depthwise sliding window.

    Weights lie in the core, whichever of FINN's internal memory modes the node has. Where inputs and weights are
    BIPOLAR, the result is FINN's popcount, else the dot product.
    """

    core = "embedded_vvau_core"
    parts = ("binary_mvau_sum.sv", "constant_rom.sv")

    @classmethod
    def supports(cls, node: Any, part: str = "") -> Support:
        """Refuse thresholds inside the node, weights that change, and counts that do not fit."""
        if not node.get_nodeattr("noActivation"):
            return unsupported("it has thresholds inside, and its core computes the sums alone")
        mode = node.get_nodeattr("mem_mode")
        if mode not in INTERNAL:
            return unsupported(f"its weights come from outside (mem_mode is {mode}), and its core holds them")
        if node.get_nodeattr("runtime_writeable_weights"):
            return unsupported(
                "its weights can change (runtime_writeable_weights), and its core holds constants"
            )
        if node.get_nodeattr("binaryXnorMode"):
            return unsupported(
                "its bits stand for -1 and 1 (binaryXnorMode), which its Python model does not know: give BIPOLAR "
                "inputs and weights"
            )
        window, given = _window(node), node.get_output_datatype()
        if _counts(node) and given.is_integer() and (given.min() > 0 or given.max() < window):
            return unsupported(f"its output is {given.name}, and a count may be {window}")
        return super().supports(node, part)

    def result_range(self) -> tuple[int, int]:
        """Return the counts, or what inputs and weights of the greatest magnitude give, if the output has so much."""
        window, wanted = _window(self), self.get_output_datatype()
        if _counts(self):
            return 0, window
        given, held = self.get_input_datatype(0), self.get_input_datatype(1)
        ends = [int(one * other) for one in (given.min(), given.max()) for other in (held.min(), held.max())]
        low, high = window * min(*ends, 0), window * max(*ends, 0)
        return max(low, int(wanted.min())), min(high, int(wanted.max()))

    def core_parameters(self) -> Mapping[str, int | str]:
        """Return folding, datatypes, and where the weights are."""
        simd, pe = self.get_nodeattr("SIMD"), self.get_nodeattr("PE")
        given, held = self.get_input_datatype(0), self.get_input_datatype(1)
        return {
            "SIMD": simd,
            "PE": pe,
            "BEATS": _window(self) // simd,
            "FOLDS": self.get_nodeattr("Channels") // pe,
            "IN_BITS": given.bitwidth(),
            "IN_KIND": _kind(given),
            "WEIGHT_BITS": held.bitwidth(),
            "WEIGHT_KIND": _kind(held),
            "OUT_BITS": self.get_output_datatype().bitwidth(),
            "STYLE": weight_table(self).style,
            "WEIGHTS": f"./{self.memory_file('weights')}",
        }

    def core_memories(self, model: ModelWrapper) -> Mapping[str, str]:
        """Return the weights: a line for each beat of all windows of a pixel.

        Raises:
            BuildError: They are not of their datatype, or give results that the output cannot hold.
        """
        values = self._weights(model)
        self._check_results(values)
        simd, pe = self.get_nodeattr("SIMD"), self.get_nodeattr("PE")
        what = f"layer {self.onnx_node.name!r}: weights"
        words = weight_words(values, simd, pe)
        return {self.memory_file("weights"): table_text(words, self.get_input_datatype(1), what)}

    def _weights(self, model: ModelWrapper) -> npt.NDArray[np.int64]:
        """Return the weights, (channels, positions of a window).

        Raises:
            BuildError: They are no constants, or of another shape.
        """
        values, channels, window = (
            model.get_initializer(self.onnx_node.input[1]),
            self.get_nodeattr("Channels"),
            _window(self),
        )
        if values is None or values.size != channels * window:
            shape = "not constant" if values is None else f"of shape {values.shape}"
            raise BuildError(
                f"layer {self.onnx_node.name!r}: its weights must be {channels} x {window} constants, and are {shape}"
            )
        return np.asarray(values).reshape(channels, window).astype(np.int64)

    def _check_results(self, values: npt.NDArray[np.int64]) -> None:
        """Refuse weights whose results may be beyond the output's datatype."""
        if _counts(self):
            return
        given, wanted = self.get_input_datatype(0), self.get_output_datatype()
        low, high = _results(values, given)
        if low < wanted.min() or high > wanted.max():
            raise BuildError(
                f"layer {self.onnx_node.name!r}: its results are {low} to {high}, which {wanted.name} cannot hold"
            )

    def core_resources(self) -> Resources:
        """Return the memory of the weights, multipliers, adders, and registers."""
        return vvau_resources(self)

    def parallelism(self) -> tuple[Parallelism, ...]:
        """Return PE, which the window in front follows, then SIMD, for which it gives all its positions at once."""
        channels, window = divisors(self.get_nodeattr("Channels")), _window(self)
        if window == 1:
            return (Parallelism("PE", channels),)
        return (
            Parallelism("PE", channels, "SIMD"),
            Parallelism("SIMD", divisors(window), "parallel_window"),
        )

    def get_instream_width(self, ind: int = 0) -> int:
        """Return the bits of a beat; 0 for the weights, which no stream carries."""
        return int(super().get_instream_width(0)) if ind == 0 else 0

    def get_verilog_top_module_intf_names(self) -> dict[str, list[Any]]:
        """Return clock, reset and two streams: neither weights nor a bus to write them."""
        names: dict[str, list[Any]] = super(VVAU, self).get_verilog_top_module_intf_names()
        return names

    def minimize_weight_bit_width(self, model: ModelWrapper, datatype_only: bool = False) -> BaseDataType:
        """Set the smallest datatype of the weights; BIPOLAR stays, and is none of others, as FINN's rule makes it of -1."""
        held = model.get_tensor_datatype(self.onnx_node.input[1])
        if held.name != "BIPOLAR" and not datatype_only:
            values = self._weights(model)
            held = integer_datatype(int(values.min()), int(values.max()))
        if not datatype_only:
            self.set_nodeattr("weightDataType", held.name)
        return DataType[self.get_nodeattr("weightDataType")]


def _window(node: Any) -> int:
    """Return how many positions a window has."""
    return prod(int(size) for size in node.get_nodeattr("Kernel"))


def _kind(datatype: BaseDataType) -> int:
    """Return how the core reads a value: 0 unsigned, 1 in two's complement, 2 one bit for -1 or 1."""
    return 2 if datatype.name == "BIPOLAR" else int(datatype.signed())


def _counts(node: Any) -> bool:
    """Tell whether a node counts products that are 1, as FINN's model does where both factors are BIPOLAR."""
    return bool(node.get_nodeattr("inputDataType") == node.get_nodeattr("weightDataType") == "BIPOLAR")


def _results(values: npt.NDArray[np.int64], given: BaseDataType) -> tuple[int, int]:
    """Return the least and the greatest result for weights (channels, positions)."""
    ends = np.stack([values * int(end) for end in (given.min(), given.max())])
    return int(ends.min(axis=0).sum(axis=1).min()), int(ends.max(axis=0).sum(axis=1).max())


def weight_words(values: npt.NDArray[np.int64], simd: int, pe: int) -> npt.NDArray[np.int64]:
    """Return the weights in the order of the stream, (beats of a pixel, simd * pe).

    Args:
        values: (channels, positions of a window).
        simd: Positions in a beat.
        pe: Channels in a beat, which change first.
    """
    channels, window = values.shape
    folds = values.reshape(channels // pe, pe, window // simd, simd)
    return folds.transpose(0, 2, 3, 1).reshape(-1, simd * pe)
