"""The base of RTL backends that multiply by constants inside the core, and add products up."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
from finn.custom_op.fpgadataflow.hwcustomop import HWCustomOp
from qonnx.core.datatype import DataType

from brainsmith.backends.rtl.embedded_resources import weight_table
from brainsmith.errors import BuildError
from brainsmith.graph.integer_range import FLOAT64_END, within
from brainsmith.rtl.cores.backend import CoreBackend
from brainsmith.rtl.cores.integers import integer_datatype, kind_of
from brainsmith.rtl.cores.node_support import SUPPORTED, Support, unsupported
from brainsmith.rtl.cores.tables import table_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt
    from qonnx.core.datatype import BaseDataType
    from qonnx.core.modelwrapper import ModelWrapper

INTERNAL = ("internal_embedded", "internal_decoupled")


class EmbeddedProducts(CoreBackend):
    """A core with its weights inside, whichever of FINN's internal memory modes the node has.

    `PE` results at once, of `SIMD` products a beat. Where inputs and weights are signs, a result is FINN's popcount,
    else the sum of the products.
    """

    exact_to = FLOAT64_END

    @property
    @abstractmethod
    def products(self) -> int:
        """The products of one result."""

    @property
    @abstractmethod
    def rows(self) -> int:
        """The results that have weights of their own."""

    @abstractmethod
    def weight_rows(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the constants of the node as (results, products)."""

    @property
    def counts(self) -> bool:
        """Whether results are how many products are 1, as FINN's model does where both factors are BIPOLAR."""
        return bool(self.get_nodeattr("inputDataType") == self.get_nodeattr("weightDataType") == "BIPOLAR")

    @classmethod
    def factors(cls, node: Any) -> Support:
        """Tell whether the core multiplies such inputs and weights."""
        if node.get_nodeattr("binaryXnorMode"):
            return unsupported(
                "its bits stand for -1 and 1 (binaryXnorMode), which its core does not count: give BIPOLAR inputs and "
                "weights"
            )
        return SUPPORTED

    @classmethod
    def supports(cls, node: Any, part: str = "") -> Support:
        """Refuse thresholds inside the node, weights that change, tiles, and counts that do not fit."""
        if not (factors := cls.factors(node)):
            return factors
        if not node.get_nodeattr("noActivation"):
            return unsupported("it has thresholds inside, and its core computes the sums alone")
        mode = node.get_nodeattr("mem_mode")
        if mode not in INTERNAL:
            return unsupported(f"its weights come from outside (mem_mode is {mode}), and its core holds them")
        for name in ("runtime_writeable_weights", "mlo_max_iter"):
            if name in node.get_nodeattr_types() and node.get_nodeattr(name):
                return unsupported(f"its weights can change ({name}), and its core holds constants")
        if "TH" in node.get_nodeattr_types() and node.get_nodeattr("TH") != 1:
            return unsupported(f"it is tiled (TH is {node.get_nodeattr('TH')})")
        layer = cls(node.onnx_node, onnx_opset_version=node.onnx_opset_version)
        given = node.get_output_datatype()
        if layer.counts and given.is_integer() and (given.min() > 0 or given.max() < layer.products):
            return unsupported(f"its output is {given.name}, and a count may be {layer.products}")
        return super().supports(node, part)

    def result_range(self) -> tuple[int, int]:
        """Return the counts, or what inputs and weights of the greatest magnitude give, if the output has so much."""
        wanted = self.get_output_datatype()
        if self.counts:
            return 0, self.products
        given, held = self.get_input_datatype(0), self.get_input_datatype(1)
        ends = [int(one * other) for one in (given.min(), given.max()) for other in (held.min(), held.max())]
        low, high = self.products * min(*ends, 0), self.products * max(*ends, 0)
        return max(low, int(wanted.min())), min(high, int(wanted.max()))

    def core_parameters(self) -> Mapping[str, int | str]:
        """Return folding, datatypes, and where the weights are."""
        simd, pe = self.get_nodeattr("SIMD"), self.get_nodeattr("PE")
        given, held = self.get_input_datatype(0), self.get_input_datatype(1)
        return {
            "SIMD": simd,
            "PE": pe,
            "BEATS": self.products // simd,
            "FOLDS": self.rows // pe,
            "IN_BITS": given.bitwidth(),
            "IN_KIND": kind_of(given),
            "WEIGHT_BITS": held.bitwidth(),
            "WEIGHT_KIND": kind_of(held),
            "OUT_BITS": self.get_output_datatype().bitwidth(),
            "STYLE": weight_table(self).style,
            "WEIGHTS": f"./{self.memory_file('weights')}",
        }

    def core_memories(self, model: ModelWrapper) -> Mapping[str, str]:
        """Return the weights: a line for each beat of all rows.

        Raises:
            BuildError: They are not of their datatype, or give results that the output cannot hold.
        """
        values = self.weights(model)
        self.check_results(values)
        simd, pe = self.get_nodeattr("SIMD"), self.get_nodeattr("PE")
        what = f"layer {self.onnx_node.name!r}: weights"
        words = weight_words(values, simd, pe)
        return {self.memory_file("weights"): table_text(words, self.get_input_datatype(1), what)}

    def weights(self, model: ModelWrapper) -> npt.NDArray[np.int64]:
        """Return the weights, (results, products).

        Raises:
            BuildError: They are no constants, or of another shape.
        """
        values, rows, products = model.get_initializer(self.onnx_node.input[1]), self.rows, self.products
        if values is None or values.size != rows * products:
            shape = "not constant" if values is None else f"of shape {values.shape}"
            raise BuildError(
                f"layer {self.onnx_node.name!r}: its weights must be {rows} x {products} constants, not {shape}"
            )
        return self.weight_rows(np.asarray(values)).astype(np.int64)

    def check_results(self, values: npt.NDArray[np.int64]) -> None:
        """Refuse weights whose results may be beyond the output's datatype.

        Raises:
            BuildError: They are.
        """
        if self.counts:
            return
        given, wanted = self.get_input_datatype(0), self.get_output_datatype()
        low, high = within(int(given.min()), int(given.max())).sums(values.T).ends
        if low < wanted.min() or high > wanted.max():
            raise BuildError(
                f"layer {self.onnx_node.name!r}: its results are {low} to {high}, which {wanted.name} cannot hold"
            )

    def get_instream_width(self, ind: int = 0) -> int:
        """Return the bits of a beat; 0 for the weights, which no stream carries."""
        return int(super().get_instream_width(0)) if ind == 0 else 0

    def get_verilog_top_module_intf_names(self) -> dict[str, list[Any]]:
        """Return clock, reset and two streams: neither weights nor a bus to write them."""
        names: dict[str, list[Any]] = HWCustomOp.get_verilog_top_module_intf_names(self)
        return names

    def minimize_weight_bit_width(self, model: ModelWrapper, datatype_only: bool = False) -> BaseDataType:
        """Set the smallest datatype of the weights; BIPOLAR stays, and is none of others, as FINN's rule makes it of -1."""
        held = model.get_tensor_datatype(self.onnx_node.input[1])
        if held.name != "BIPOLAR" and not datatype_only:
            values = self.weights(model)
            held = integer_datatype(int(values.min()), int(values.max()))
        if not datatype_only:
            self.set_nodeattr("weightDataType", held.name)
        return DataType[self.get_nodeattr("weightDataType")]


def weight_words(values: npt.NDArray[np.int64], simd: int, pe: int) -> npt.NDArray[np.int64]:
    """Return the weights in the order in which the core meets them, (beats of all rows, simd * pe).

    Args:
        values: (results, products).
        simd: Products of a result in a beat.
        pe: Results in a beat, which change first.
    """
    rows, products = values.shape
    folds = values.reshape(rows // pe, pe, products // simd, simd)
    return folds.transpose(0, 2, 3, 1).reshape(-1, simd * pe)
