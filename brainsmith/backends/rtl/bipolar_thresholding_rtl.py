"""BipolarThresholdingRTL: FINN's Thresholding kernel for inputs of one bit, -1 or 1, in RTL."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from finn.custom_op.fpgadataflow.thresholding import Thresholding

from brainsmith.backends.rtl.elementwise_backend import in_step
from brainsmith.plugin.core import backend
from brainsmith.plugin.info import Priority
from brainsmith.rtl.cores.backend import CoreBackend
from brainsmith.rtl.cores.node_support import Support, unsupported
from brainsmith.rtl.cores.parallelism import Parallelism, divisors
from brainsmith.rtl.cores.tables import Table, make_table, table_text
from brainsmith.rtl.resource_models.circuit_sizes import distinct_functions
from brainsmith.rtl.synthesis.cells import Resources
from brainsmith.rtl.timing.beat_schedule import BeatSchedule, one_by_one

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qonnx.core.modelwrapper import ModelWrapper


@backend(
    kernel="finn:Thresholding",
    backend_type="rtl",
    description="Thresholds of BIPOLAR inputs: one of two levels for each channel",
    op_type="BipolarThresholding_rtl",
    priority=Priority.LOW,  # after FINN's, which takes all other integers
)
class BipolarThresholdingRTL(CoreBackend, Thresholding):
    """A table of the level for -1 and the level for 1, `PE` channels a word, of which the input picks one."""

    core = "elementwise_core"
    parts = ("constant_rom.sv", "table_in_step.sv", "integer_product.sv")

    @classmethod
    def supports(cls, node: Any, part: str = "") -> Support:
        """Refuse inputs of more than a bit, and thresholds that can change."""
        kind = node.get_input_datatype(0).name
        if kind != "BIPOLAR":
            return unsupported(f"its inputs are {kind}, but its core takes BIPOLAR ones")
        for name in ("runtime_writeable_weights", "mlo_max_iter"):
            if node.get_nodeattr(name):
                return unsupported(f"its thresholds can change ({name}), but its core holds constants")
        return super().supports(node, part)

    def core_parameters(self) -> Mapping[str, int | str]:
        """Return the lanes, the bits of a level, and the table."""
        bits, table = self.get_output_datatype().bitwidth(), self._table()
        return {
            "OPERATION": "SEL",
            "PE": self.get_nodeattr("PE"),
            "FED": 1,
            "A_BITS": 1,
            "A_KIND": 0,
            "B_BITS": 2 * bits,
            "B_KIND": 0,
            "OUT_BITS": bits,
            "DEPTH": table.depth,
            "TABLE": f"./{self.memory_file('levels')}",
            "STYLE": table.style,
        }

    def core_memories(self, model: ModelWrapper) -> Mapping[str, str]:
        """Return both levels of each channel, that of -1 in the lower bits."""
        thresholds, kind = model.get_initializer(self.onnx_node.input[1]), self.get_output_datatype()
        levels = np.stack([(thresholds <= value).sum(axis=1) for value in (-1, 1)], axis=1)
        levels = levels + self.get_nodeattr("ActVal")
        if kind.name == "BIPOLAR":
            levels = 2 * levels - 1
        words = np.broadcast_to(levels, (self.get_nodeattr("NumChannels"), 2)).reshape(self.calc_tmem(), -1)
        what = f"layer {self.onnx_node.name!r}: a level"
        return {self.memory_file("levels"): table_text(words, kind, what)}

    def core_resources(self, family: str) -> Resources:
        """Return LUTs and a register for each bit of a level, the handshake, and the table.

        What no lane needs is not built: a level that does not depend on the input, bits of the table that are the same
        in all its words, or another's. So many are assumed as levels of random thresholds have.
        """
        pe, table = int(self.get_nodeattr("PE")), self._table()
        width = int(self.get_output_datatype().bitwidth())
        bits = pe * width
        if (
            table.depth == 1
        ):  # a bit is constant, or that of the input, or, the more bits the likelier, its opposite
            opposite = pe * min(width - 1, 3) // 6
            return Resources(lut=opposite + 3, ff=min(bits, pe * max(min(width, 4), 2) // 4 + pe // 2) + 1)
        if table.style == "distributed":
            varying = table.bits * (1 - 2 ** (-table.depth / 3))
            table = replace(table, bits=round(float(distinct_functions(table.depth, varying))))
        return Resources(lut=round(bits * (1 - 1 / table.depth)) + 3, ff=bits + 1) + in_step(table, family)

    def beat_schedule(self) -> BeatSchedule:
        """Return that each beat is one of results, a cycle later."""
        return replace(one_by_one(self.frame_beats()[1][0]), begin=self._table().begin)

    def parallelism(self) -> tuple[Parallelism, ...]:
        """Return PE, which divides the channels."""
        return (Parallelism("PE", divisors(self.get_nodeattr("NumChannels"))),)

    def _table(self) -> Table:
        """Return the table of the levels."""
        bits = 2 * self.get_nodeattr("PE") * self.get_output_datatype().bitwidth()
        return make_table(bits, self.calc_tmem(), "auto")
