"""Verify a design in parts, where a frame of the whole takes too long: each layer alone, then sections of layers.

For example, of layers a, b, c and d with 600 s for a frame: a, b, c and d each alone, in simulations of their own; then a
and b as they are stitched, b and c, c and d. A section is longer where its frame takes less than a tenth of the 600 s. Each
link and FIFO of the design lies in a section, also that of a branch that goes around other layers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from brainsmith.errors import SimulationError, VerificationError
from brainsmith.figures import plural, share
from brainsmith.progress import Task
from brainsmith.rtl.stitching.sections import cut_out, layer_names, without_names
from brainsmith.rtl.verification.design_runs import first_frames, frame_count
from brainsmith.rtl.verification.design_verification import verify_design
from brainsmith.rtl.verification.layers import require_right, verify_layers

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from brainsmith.rtl.stitching.design import Design
    from brainsmith.rtl.verification.design_verification import Verification
    from brainsmith.rtl.verification.explained_runs import Tensors
    from brainsmith.rtl.verification.layers import LayerCheck

PART = 60.0
"""Seconds of a layer's frame that are simulated at least, however low the limit is."""

WHOLE = (
    "the whole circuit was not simulated at once: whether branches that join again can deadlock, and the rate and the "
    "latency of the whole, are not shown"
)
REDUCED = (
    "the whole circuit was simulated at once for a smaller image only: whether its FIFOs are deep enough for the full "
    "one, and the rate and the latency there, are not shown"
)
"""What stands in place of `WHOLE` where that was done."""

SINGLE = "1 frame was simulated, so it is not shown how frames follow each other"

_SECTION = 0.1
"""Of the limit: how long a frame of a section may take, where it has more than two layers."""


@dataclass(frozen=True)
class Section:
    """Layers that were simulated as they are stitched; all of their outputs are the golden model's.

    Attributes:
        layers: Their names, in the order of the design.
        frames: How many were run without stalls.
        stalled_frames: How many were run with random ones at all of its ends.
        cycles: Measured, of a frame.
    """

    layers: tuple[str, ...]
    frames: int
    stalled_frames: int
    cycles: int


@dataclass(frozen=True)
class Parts:
    """What was verified in parts; nothing differs.

    Attributes:
        frames: How many there were.
        layers: Each alone.
        sections: Of layers next to each other.
        uncovered: What was not simulated, in sentences.
    """

    frames: int
    layers: tuple[LayerCheck, ...]
    sections: tuple[Section, ...]
    uncovered: tuple[str, ...]

    def __str__(self) -> str:
        values, frames = sum(check.values for check in self.layers), plural(self.frames, "frame")
        layers = plural(len(self.layers), "layer")
        text = f"each of {layers} alone on the activations of {frames}, 0 of {values:,} values differ"
        if self.sections:
            stalled = ", and 0 with random stalls" if all(one.stalled_frames for one in self.sections) else ""
            text += (
                f"; {plural(len(self.sections), 'section')} of layers as they are stitched, in which every link and FIFO "
                f"between layers lies: 0 of {frames} differ in each{stalled}"
            )
        return text


def verify_parts(design: Design, tensors: Tensors, seconds: float, *, seed: int | None = 1) -> Parts:
    """Verify each layer alone, and then every link in a section of layers, with a golden frame's own activations.

    Args:
        design: Its FIFOs have their depths.
        tensors: The golden model's, by the tensors of all links: (frames, *shape of one).
        seconds: What a frame may take in a simulation.
        seed: Of the random stalls; None for none in sections.

    Raises:
        VerificationError: All layers that are wrong; or a section, and the layer or FIFO at fault.
        SimulationStalledError: A section stands still.
        SimulationError: A part cannot be built, or reports an error.
    """
    checks = _layers_alone(design, tensors, seconds)
    require_right(checks)
    costs = {check.layer: 1 / max(check.cycles_per_second, 1) for check in checks}
    chosen = choose_sections(design, costs, _SECTION * seconds)
    sections = []
    with Task("layers as they are stitched", len(chosen), "sections") as task:
        for names in chosen:
            sections.append(_verify_section(design, names, tensors, seed))
            task.add()
    frames = frame_count(tensors)
    uncovered = _uncovered(checks, sections, design, _constant_layers(design, tensors))
    return Parts(frames, tuple(checks), tuple(sections), tuple(uncovered))


def choose_sections(design: Design, costs: Mapping[str, float], seconds: float) -> list[tuple[str, ...]]:
    """Return sections in which every link between two layers lies.

    Args:
        design: What they are of.
        costs: Seconds per simulated cycle of each layer alone.
        seconds: What a frame of a section of more than two layers may take, if its layers work one after the other.
    """
    cycles = {layer.name: layer.cycles for layer in design.layers}
    names = layer_names(design)

    def taken(section: Sequence[str]) -> float:
        return sum(cycles[name] for name in section) * sum(costs[name] for name in section)

    found: list[tuple[str, ...]] = []
    begin = 0
    while begin < len(names) - 1:
        end = begin + 2
        while end < len(names) and taken(names[begin : end + 1]) <= seconds:
            end += 1
        found.append(tuple(names[begin:end]))
        begin = end - 1
    ends = [(link.source.layer, link.target.layer) for link in design.links if not link.weights]
    joined = [section for section in found if _joined(section, ends)]
    for source, target in ends:
        if source and target and not any({source, target} <= set(section) for section in joined):
            joined.append((source, target))
    return joined


def _joined(section: Sequence[str], ends: Sequence[tuple[str, str]]) -> bool:
    """Tell whether a link lies in a section: layers of two branches may be next to each other in the order of the model."""
    return any(source in section and target in section for source, target in ends)


def _layers_alone(design: Design, tensors: Tensors, seconds: float) -> list[LayerCheck]:
    names = layer_names(design)
    checks = []
    with Task("layers alone", len(names), "layers") as task:
        for name in names:
            alone = without_names(cut_out(design, [name]))
            own = {link.layout.tensor: tensors[link.layout.tensor] for link in alone.links if link.layout}
            try:
                (check,) = verify_layers(alone, own, seconds=max(seconds, PART))
            except SimulationError as error:
                raise type(error)(f"layer {name!r} alone: {error}") from error
            checks.append(replace(check, layer=name))
            task.add()
    return checks


def _verify_section(design: Design, names: tuple[str, ...], tensors: Tensors, seed: int | None) -> Section:
    section = replace(cut_out(design, names), top=f"{design.top}_section")
    own = {link.layout.tensor: tensors[link.layout.tensor] for link in section.links if link.layout}
    inputs = {stream.layout.tensor: own[stream.layout.tensor] for stream in section.inputs}
    golden = {stream.layout.tensor: own[stream.layout.tensor] for stream in section.outputs}
    seeds = () if seed is None else (seed,)

    def verified(part: Design) -> Verification:
        return verify_design(part, inputs, golden, seeds, tensors=partial(first_frames, own), section=True)

    try:
        done = verified(without_names(section))  # equal sections have one simulation
    except (VerificationError, SimulationError):
        try:
            done = verified(section)  # which names the layer at fault
        except (VerificationError, SimulationError) as error:
            raise type(error)(f"layers {', '.join(names)}, as they are stitched: {error}") from error
    return Section(names, done.frames, done.stalled_frames, done.latency_cycles)


def _constant_layers(design: Design, tensors: Tensors) -> set[str]:
    """Return the layers of which every output has one value only."""
    given = [
        (link.source.layer, link.layout.tensor) for link in design.links if link.layout and link.source.layer
    ]
    varied = {layer for layer, tensor in given if tensors[tensor].min() != tensors[tensor].max()}
    return {layer for layer, _ in given} - varied


def _uncovered(
    checks: Sequence[LayerCheck], sections: Sequence[Section], design: Design, constant: Collection[str]
) -> list[str]:
    """Say what the parts do not show."""
    said = [
        f"of layer {check.layer} only {share(check.share)} of the output was compared, because its frame takes too long"
        for check in checks
        if check.share < 1
    ]
    still = [check.layer for check in checks if check.layer in constant]
    if still:
        said.append(
            f"all values are the same in the output of {', '.join(still)}, which shows little of that layer"
        )
    names = set(layer_names(design))
    if not any(set(section.layers) == names for section in sections):
        said.append(WHOLE)
    if min((section.frames for section in sections), default=0) < 2:
        said.append(SINGLE)
    return said
