"""LookupRTL: FINN's Lookup kernel in RTL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from finn.custom_op.fpgadataflow.lookup import Lookup

from brainsmith.figures import plural
from brainsmith.plugin.core import backend
from brainsmith.rtl.cores.backend import CoreBackend
from brainsmith.rtl.cores.node_support import SUPPORTED, Support, unsupported
from brainsmith.rtl.cores.tables import Table, make_table, table_text
from brainsmith.rtl.synthesis.cells import Resources
from brainsmith.rtl.timing.beat_schedule import BeatSchedule, one_by_one

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt
    from onnx import GraphProto
    from qonnx.core.modelwrapper import ModelWrapper


@backend(
    kernel="finn:Lookup",
    backend_type="rtl",
    description="An embedding: each index replaced by a row of a table, one per cycle",
    op_type="Lookup_rtl",
)
class LookupRTL(CoreBackend, Lookup):
    """An embedding table in block RAM or LUTs; a whole row is one beat, so nothing makes it faster."""

    core = "lookup_core"
    parts = ("constant_rom.sv",)

    @classmethod
    def supports(cls, node: Any, part: str = "") -> Support:
        """Tell whether the table lies inside, and has a row for every index of the input's datatype."""
        if node.get_nodeattr("mem_mode") != "internal_embedded":
            return unsupported(
                "its table is in external memory, but its core holds it: set mem_mode to internal_embedded"
            )
        if node.get_nodeattr("ram_style") == "ultra":
            return unsupported("its ram_style is ultra, and UltraRAM cannot hold a table from the start")
        found = super().supports(node, part)
        if not found:
            return found
        kind, rows = node.get_input_datatype(0), node.get_nodeattr("NumEmbeddings")
        if kind.min() < 0:
            return unsupported(f"its indices are {kind.name}, which may be negative")
        if kind.max() >= rows:
            return unsupported(
                f"its indices are {kind.name}, up to {int(kind.max())}, and its table has {plural(rows, 'row')}: "
                f"add rows up to {int(kind.max()) + 1}"
            )
        return SUPPORTED

    def execute_node(self, context: dict[str, npt.NDArray[Any]], graph: GraphProto) -> None:
        """Execute as the kernel does, whose indices must be int64, whatever number type holds them here."""
        indices, out = self.onnx_node.input[0], self.onnx_node.output[0]
        whole = {**context, indices: context[indices].astype("int64")}
        super().execute_node(whole, graph)
        context[out] = whole[out]

    def core_parameters(self) -> Mapping[str, int | str]:
        """Return the widths of an index and a row, and the table."""
        table = self._table()
        return {
            "INDEX_BITS": self.get_instream_width(0),
            "ROW_BITS": table.bits,
            "DEPTH": table.depth,
            "TABLE": f"./{self.memory_file('table')}",
            "STYLE": table.style,
        }

    def core_memories(self, model: ModelWrapper) -> Mapping[str, str]:
        """Return the rows that an index can reach."""
        rows = model.get_initializer(self.onnx_node.input[1])[: self._table().depth]
        text = table_text(rows, self.get_output_datatype(), f"layer {self.onnx_node.name!r}: a table")
        return {self.memory_file("table"): text}

    def beat_schedule(self) -> BeatSchedule:
        """Return that each beat is one of results, a cycle later, or two if the table lies in block RAM."""
        return one_by_one(self.frame_beats()[1][0], delay=2 if self._table().registered else 1)

    def core_resources(self, family: str) -> Resources:
        """Return the table, a register behind block RAM, and the handshake."""
        table = self._table()
        behind = Resources(ff=table.bits + 1) if table.registered else Resources()
        return table.resources(family) + behind + Resources(lut=3, ff=1)

    def _table(self) -> Table:
        depth = min(self.get_nodeattr("NumEmbeddings"), int(self.get_input_datatype(0).max()) + 1)
        return make_table(self.get_outstream_width(), depth, self.get_nodeattr("ram_style"))
