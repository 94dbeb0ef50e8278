"""Simulate a kernel's RTL backend alone, against what the kernel computes in Python."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from brainsmith.errors import BuildError
from brainsmith.figures import plural
from brainsmith.plugin import get_plugin_manager
from brainsmith.plugin.adapters.finn_runtime import prepare_finn
from brainsmith.plugin.collections import backends_of
from brainsmith.plugin.node_claims import op_type_of
from brainsmith.rtl.cores.stimuli import enough, stimuli
from brainsmith.rtl.cores.trial import Case, golden_tensors, make_design
from brainsmith.rtl.verification.design_runs import design_beats
from brainsmith.rtl.verification.layers import take_apart, verify_layers
from brainsmith.rtl.verification.link_watch import build_apart

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from brainsmith.plugin.info import PluginInfo
    from brainsmith.rtl.stitching.design import Design
    from brainsmith.rtl.verification.layers import LayerCheck

PART = "xczu7ev-ffvc1156-2-e"


@dataclass(frozen=True)
class KernelCheck:
    """A layer alone against its kernel.

    Attributes:
        layer: What was compared, without stalls and with random ones.
        interval: Cycles from frame to frame, the first left out, without stalls.
        estimate: What the kernel says of that.
    """

    layer: LayerCheck
    interval: float
    estimate: int

    @property
    def right(self) -> bool:
        """Tell whether every value is what the kernel computes."""
        return self.layer.right

    def __str__(self) -> str:
        return f"{self.layer}; {plural(self.interval, 'cycle')} a frame, {self.estimate} estimated"


def check_kernel(
    kernel: str | PluginInfo,
    folder: Path,
    *,
    frames: int | None = None,
    seed: int = 0,
    attributes: Mapping[str, int | str] | None = None,
    part: str = PART,
) -> KernelCheck:
    """Simulate an RTL backend of a kernel that says its streams, and compare with its Python execution.

    The inputs are both ends of their ranges, all values in order as far as half of the frames go, and random ones.

    Args:
        kernel: Its name, which means its first RTL backend; or the record of a backend.
        folder: Where its Verilog is generated.
        frames: To run, 3 or more. By default 64, and as many more as it takes for all values of inputs of up to 8 bits.
        seed: Of inputs and stalls.
        attributes: Of the node; its defaults where they are not given.
        part: The FPGA.

    Raises:
        BuildError: The kernel has no RTL backend.
        SimulationError: It cannot be built, or reports an error.
    """
    backend = _rtl_backend(kernel) if isinstance(kernel, str) else kernel
    if frames is not None and frames < 3:
        raise ValueError(f"frames must be 3 or more, not {frames!r}")
    prepare_finn()
    case = fed_case(default_case(backend, attributes or {}), frames, seed)
    assert case.frames
    cases, frames = [case], len(case.frames[0])
    model, design = make_design(cases, folder, part)
    golden = golden_tensors(model, cases, frames, seed)
    layer = verify_layers(design, golden, seed=seed + 1)[0]
    interval = layer_intervals(design, golden)[layer.layer]
    return KernelCheck(layer, interval, design.layers[-1].cycles)


def default_case(backend: PluginInfo, attributes: Mapping[str, int | str]) -> Case:
    """Return one node of a backend whose class says its streams (`StreamKernel`).

    Args:
        backend: Its record.
        attributes: Of the node; its defaults where they are not given.
    """
    cls = backend.load()
    case = Case(op_type_of(backend), [], attributes, outputs=len(cls.outputs), domain=backend.extra["domain"])
    layer = cls(case.node(0))
    inputs = [
        (layer.get_normal_input_shape(at), layer.get_input_datatype(at).name) for at in range(len(cls.inputs))
    ]
    return replace(case, inputs=inputs)


def fed_case(case: Case, frames: int | None, seed: int) -> Case:
    """Return a case with frames: both ends of their ranges, all values in order as far as half of them go, random ones."""
    count = enough(case.inputs) if frames is None else frames
    return replace(case, frames=tuple(stimuli(seed, case.inputs, count)))


def layer_intervals(design: Design, golden: Mapping[str, NDArray[Any]]) -> dict[str, float]:
    """Return the cycles from frame to frame of each layer alone, without stalls; the first frame is left out.

    Args:
        design: Of layers.
        golden: (frames, *shape of one) by tensor, 3 frames or more.
    """
    apart = take_apart(design)
    frames, words, counts = design_beats(apart, golden)
    result = build_apart(design, quick=True).run(words, counts, judge=False)
    found: dict[str, float] = {}
    for link in apart.links:
        if link.source.layer in {layer.name for layer in design.layers} and link.layout is not None:
            spans = result.streams[link.target.stream].frames(frames)
            found[link.source.layer] = (spans[-1][1] - spans[1][1]) / (frames - 2)
    return found


def _rtl_backend(kernel: str) -> PluginInfo:
    registry = get_plugin_manager().all_records()[0]
    found = [
        info
        for info in backends_of(registry, registry.resolve("kernel", kernel))
        if info.backend_type == "rtl"
    ]
    if not found:
        raise BuildError(
            f"kernel {kernel!r} has no RTL backend: `brainsmith plugins list --type backend` lists them"
        )
    return found[0]
