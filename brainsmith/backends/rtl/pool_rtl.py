"""PoolRTL: FINN's Pool kernel in RTL."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from finn.custom_op.fpgadataflow.pool import Pool
from qonnx.core.datatype import DataType

from brainsmith.execution.program.functions.images import pool_windows
from brainsmith.graph.integer_range import FLOAT64_END
from brainsmith.plugin.core import backend
from brainsmith.rtl.cores.backend import CoreBackend
from brainsmith.rtl.cores.costs import comparator_luts
from brainsmith.rtl.cores.integers import integer_datatype
from brainsmith.rtl.cores.node_support import Support, unsupported
from brainsmith.rtl.cores.parallelism import Parallelism, divisors
from brainsmith.rtl.synthesis.cells import Resources
from brainsmith.rtl.timing.beat_schedule import BeatSchedule, gathered

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt
    from onnx import GraphProto
    from qonnx.core.datatype import BaseDataType


_FEW_BITS = {3: 3, 5: 4}
"""LUTs of a lane of so many bits: Yosys builds its comparator together with the enable of its register."""


@backend(
    kernel="finn:Pool",
    backend_type="rtl",
    description="Greatest value, sum or shifted sum of each window, one beat of a window per cycle",
    op_type="Pool_rtl",
)
class PoolRTL(CoreBackend, Pool):
    """Pooling after a depthwise sliding window: `PE` channels a beat, the window's positions one after the other."""

    core = "pool_core"
    exact_to = FLOAT64_END

    @classmethod
    def supports(cls, node: Any, part: str = "") -> Support:
        """Tell whether the core computes a node exactly: integers, and results that the output can hold."""
        function = node.get_nodeattr("Function")
        given, wanted = (DataType[node.get_nodeattr(f"{way}DataType")] for way in ("Input", "Output"))
        if function == "MaxPool" and given != wanted:
            return unsupported(
                f"it takes {given.name} and gives {wanted.name}, and a greatest value is one of those taken"
            )
        if function == "QuantAvgPool" and given.signed() != wanted.signed():
            return unsupported(
                f"it takes {given.name} and gives {wanted.name}; both must have a sign, or none"
            )
        support = super().supports(node, part)
        if not support or function == "MaxPool":
            return support
        if function == "AvgPool" and _window(node) > 1:
            return unsupported(
                f"an AvgPool of {_window(node)} values gives fractions, but its core computes with integers only"
            )
        least, greatest = _results(node)
        if wanted.name == "BIPOLAR" or least < wanted.min() or greatest > wanted.max():
            return unsupported(f"its results are {least} to {greatest}, which {wanted.name} cannot hold")
        return support

    def result_range(self) -> tuple[int, int]:
        """Return the least and the greatest sum; the greatest value is one of those taken."""
        return _results(self) if self._sums() else (0, 0)

    def core_parameters(self) -> Mapping[str, int | str]:
        """Return the function, the size of a window, and the widths of a value on its way."""
        given = self.get_input_datatype()
        return {
            "SUM": int(self._sums()),
            "SIGNED": int(self._signed()),
            "BIPOLAR": int(given.name == "BIPOLAR"),
            "PE": self.get_nodeattr("PE"),
            "WINDOW": _window(self),
            "IN_BITS": given.bitwidth(),
            "ACC_BITS": self._accumulator_bits(),
            "SHIFT": _shift(self),
            "OUT_BITS": self.get_output_datatype().bitwidth(),
        }

    def core_resources(self, family: str) -> Resources:
        """Return the registers of all lanes, their adders or comparators, and the window's counter."""
        lanes, bits = self.get_nodeattr("PE"), self._accumulator_bits()
        count = (_window(self) - 1).bit_length()
        per_lane = 0
        if count and self._sums():
            per_lane = bits + int(self.get_input_datatype().name == "BIPOLAR")
        elif count:
            per_lane = _FEW_BITS.get(bits) or comparator_luts(bits)
        return Resources(lut=lanes * per_lane + 2 * count + 2, ff=lanes * bits + count + 1)

    def beat_schedule(self) -> BeatSchedule:
        """Return that the beats of a window are one result, a cycle after the last."""
        (taken,), (given,) = self.frame_beats()
        return gathered(taken, given, 1)

    def parallelism(self) -> tuple[Parallelism, ...]:
        """Return PE, which divides the channels; the window in front gives as many channels a beat."""
        window = "SIMD" if _window(self) > 1 else ""
        return (Parallelism("PE", divisors(self.get_nodeattr("Channels")), window),)

    def execute_node(self, context: dict[str, npt.NDArray[Any]], graph: GraphProto) -> None:
        """Pool windows as FINN's sliding window gives them: those of the first `PE` channels, then of the next."""
        name, out = self.onnx_node.input[0], self.onnx_node.output[0]
        channels, lanes = self.get_nodeattr("Channels"), self.get_nodeattr("PE")
        given = context[name]
        if self.get_nodeattr("exec_mode") == "rtlsim":
            super().execute_node(context, graph)
            return
        folds = given.reshape(-1, channels // lanes, _window(self), lanes)
        windows = folds.swapaxes(1, 2).reshape(given.shape)
        kind = self.get_nodeattr("Function")
        if kind == "QuantAvgPool":  # FINN's Python model is not what its hardware computes
            context[out] = pool_windows(windows, channels=channels, kind=kind, shift=_shift(self))
            return
        context[name] = windows
        super().execute_node(context, graph)
        context[name] = given

    def _get_accumulator_datatype(self) -> BaseDataType:
        """Return the smallest datatype of all sums, which FINN's rule, the end of the larger magnitude, may be short of."""
        given, size = self.get_input_datatype(), _window(self)
        return integer_datatype(size * int(given.min()), size * int(given.max()))

    def _sums(self) -> bool:
        return bool(self.get_nodeattr("Function") != "MaxPool")

    def _signed(self) -> bool:
        """Tell whether what is gathered has a sign: the sum of -1 and 1 has one, the greatest of them is a bit."""
        given = self.get_input_datatype()
        return bool(given.signed() and (self._sums() or given.name != "BIPOLAR"))

    def _accumulator_bits(self) -> int:
        """Return the least width that holds every result before the shift."""
        given = self.get_input_datatype()
        if not self._sums():
            return int(given.bitwidth())
        return int(self._get_accumulator_datatype().bitwidth())


def _window(node: Any) -> int:
    """Return how many values of a channel are one result."""
    return prod(int(size) for size in node.get_nodeattr("KernelSize"))


def _results(node: Any) -> tuple[int, int]:
    """Return the least and the greatest sum of a window, shifted."""
    given = node.get_input_datatype()
    low, high = (_window(node) * int(end) >> _shift(node) for end in (given.min(), given.max()))
    return low, high


def _shift(node: Any) -> int:
    """Return by how many bits a sum is shifted right: `Size`, where FINN notes it, whatever the datatypes are now."""
    return int(node.get_nodeattr("Size")) if node.get_nodeattr("Function") == "QuantAvgPool" else 0
