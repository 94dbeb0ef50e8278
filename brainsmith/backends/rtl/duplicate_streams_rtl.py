"""DuplicateStreamsRTL: FINN's DuplicateStreams kernel in RTL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from finn.custom_op.fpgadataflow.duplicatestreams import DuplicateStreams

from brainsmith.figures import plural
from brainsmith.plugin.core import backend
from brainsmith.rtl.cores.backend import CoreBackend
from brainsmith.rtl.cores.node_support import Support, unsupported
from brainsmith.rtl.synthesis.cells import Resources
from brainsmith.rtl.timing.beat_schedule import BeatSchedule, one_by_one

if TYPE_CHECKING:
    from collections.abc import Mapping


@backend(
    kernel="finn:DuplicateStreams",
    backend_type="rtl",
    description="One stream given to several, one beat per cycle",
    op_type="DuplicateStreams_rtl",
)
class DuplicateStreamsRTL(CoreBackend, DuplicateStreams):
    """The fork before a residual branch: `PE` values a beat, each output takes it when it can."""

    core = "duplicate_streams_core"
    joined = True
    parallel: ClassVar[Mapping[str, str]] = {"PE": "NumChannels"}

    @classmethod
    def supports(cls, node: Any, part: str = "") -> Support:
        """Tell whether the values are integers, and the outputs are as many as stated."""
        given, stated = len(node.onnx_node.output), node.get_num_output_streams()
        if given != stated:
            return unsupported(f"it has {plural(given, 'output')}, and its NumOutputStreams is {stated}")
        return super().supports(node, part)

    def core_parameters(self) -> Mapping[str, int | str]:
        """Return the number of outputs and the width of a beat."""
        return {"COUNT": self.get_num_output_streams(), "BITS": self.get_instream_width()}

    def beat_schedule(self) -> BeatSchedule:
        """Return that each beat is given at once, at all outputs."""
        _, given = self.frame_beats()
        return one_by_one(given[0], outputs=len(given), delay=0)

    def core_resources(self, family: str) -> Resources:
        """Return a flip-flop for each output, LUTs for its valid and its next state, and a tree for ready."""
        count = self.get_num_output_streams()
        return Resources(lut=5 * count // 2 + (2 if count > 2 else 0), ff=count)
