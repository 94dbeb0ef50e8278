"""GlobalAccPoolRTL: FINN's GlobalAccPool kernel in RTL."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from finn.custom_op.fpgadataflow.globalaccpool import GlobalAccPool
from qonnx.core.datatype import DataType

from brainsmith.backends.rtl.page_memory import in_blocks, page_memory_resources
from brainsmith.graph.integer_range import FLOAT64_END
from brainsmith.plugin.core import backend
from brainsmith.rtl.cores.backend import CoreBackend
from brainsmith.rtl.cores.integers import integer_datatype
from brainsmith.rtl.cores.node_support import Support, unsupported
from brainsmith.rtl.synthesis.cells import Resources
from brainsmith.rtl.timing.beat_schedule import BeatSchedule, Giving, Taking

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qonnx.core.datatype import BaseDataType


@backend(
    kernel="finn:GlobalAccPool",
    backend_type="rtl",
    description="The sum of all pixels of each channel, one beat per cycle",
    op_type="GlobalAccPool_rtl",
)
class GlobalAccPoolRTL(CoreBackend, GlobalAccPool):
    """What global average pooling becomes: `PE` channels a beat, pixel by pixel; the division is a scale later on."""

    core = "global_acc_pool_core"
    exact_to = FLOAT64_END
    parts = ("page_memory.sv",)
    parallel: ClassVar[Mapping[str, str]] = {"PE": "NumChannels"}

    @classmethod
    def supports(cls, node: Any, part: str = "") -> Support:
        """Tell whether a frame is an image of integers."""
        vectors = node.get_nodeattr("numInputVectors")
        if len(vectors) != 3:
            return unsupported(
                f"numInputVectors is {list(vectors)}, and an image has three: batch, height and width"
            )
        given = node.get_input_datatype()
        if not given.is_integer():  # FINN's kernel has no output for it
            return unsupported(f"input 0 is {given.name}, but its core computes with integers only")
        return super().supports(node, part)

    def get_nodeattr_types(self) -> dict[str, Any]:
        """Return FINN's attributes, and the datatype of the sums where that is not the smallest one."""
        return {**super().get_nodeattr_types(), "sumDataType": ("s", False, "")}

    def get_output_datatype(self, ind: int = 0) -> BaseDataType:
        """Return the smallest datatype that holds all sums, or that which is stated.

        FINN works it out for the sum of least values alone: that of 4 values that are -1 or 1 would be INT3.
        """
        stated = self.get_nodeattr("sumDataType")
        return DataType[stated] if stated else integer_datatype(*self.result_range())

    def result_range(self) -> tuple[int, int]:
        """Return the least and the greatest sum."""
        given = self.get_input_datatype()
        return _pixels(self) * int(given.min()), _pixels(self) * int(given.max())

    def get_exp_cycles(self) -> int:
        """Return the beats of a frame's input: sums go out while the last pixel comes in.

        FINN's kernel adds the beats of one output, which go out after the input there.
        """
        return int(prod(self.get_folded_input_shape()[:-1]))

    def core_parameters(self) -> Mapping[str, int | str]:
        """Return the size of a frame, and the widths of values and sums."""
        given = self.get_input_datatype()
        return {
            "SIGNED": int(given.signed()),
            "BIPOLAR": int(given.name == "BIPOLAR"),
            "PE": self.get_nodeattr("PE"),
            "FOLDS": self._folds(),
            "PIXELS": _pixels(self),
            "IN_BITS": given.bitwidth(),
            "OUT_BITS": self.get_output_datatype().bitwidth(),
            "BLOCK": int(in_blocks(self._folds(), self.get_outstream_width())),
        }

    def beat_schedule(self) -> BeatSchedule:
        """Return that the sums of an image come with its last pixel, each a cycle after its beat."""
        (taken,), (given,) = self.frame_beats()
        folds = self._folds()
        images = np.arange(1, given // folds + 1) * (taken * folds // given)
        sums = (images[:, None] - folds + np.arange(folds)).reshape(-1)
        return BeatSchedule(taken, (Taking(np.arange(taken)),), (Giving(sums),))

    def core_resources(self, family: str) -> Resources:
        """Return the memory of the sums, their adders, the beat that waits for its sums, and the counters."""
        width, folds = int(self.get_outstream_width()), self._folds()
        fold, pixel = (folds - 1).bit_length(), (_pixels(self) - 1).bit_length()
        bipolar = self.get_nodeattr("PE") if self.get_input_datatype().name == "BIPOLAR" else 0
        stored = page_memory_resources(folds, width, family) if folds > 1 else Resources(ff=width)
        rest = Resources(
            lut=width + bipolar + 8 + (fold + pixel) // 3,
            ff=self.get_instream_width() + 2 * fold + pixel + 3,
        )
        return stored + rest

    def _folds(self) -> int:
        return int(self.get_nodeattr("NumChannels") // self.get_nodeattr("PE"))


def _pixels(node: Any) -> int:
    """Return how many values are one sum."""
    return prod(int(size) for size in node.get_nodeattr("numInputVectors")[-2:])
