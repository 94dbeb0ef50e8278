"""Inputs of their own for layers that give the same for every golden frame: nothing else shows that they compute."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.errors import BuildError
from brainsmith.steps.golden_frames import whole

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.rtl.stitching.design import Design, Layer, Layout

    Stack = np.ndarray[Any, Any]
    Stacks = dict[str, Stack]

FRAMES = 24
SEED = 20_130_103

_SHARES = (1.0, 0.25, 0.05)
"""Of a frame's values that are not the golden ones, where the layer's own datatypes do not hold what all of them give."""


@dataclass(frozen=True)
class OwnFrames:
    """Frames for the constant layers of a design, and golden ones for the others.

    Attributes:
        layers: The names of the constant ones.
        fed: By tensor: what each layer takes.
        given: By tensor: what each layer must give.
        still: Layers of `layers` that give the same for all frames of their own, too.
    """

    layers: tuple[str, ...]
    fed: Stacks
    given: Stacks
    still: tuple[str, ...]


def own_frames(model: ModelWrapper, design: Design, golden: Mapping[str, Stack]) -> OwnFrames | None:
    """Make inputs for each layer whose outputs are the same in all golden frames.

    A layer that is stuck at a value would pass with such frames. Alone it can be fed whatever its datatypes hold: both
    ends, all values in order and random ones; its Python model says what it must give.

    Args:
        model: That the design was made of.
        design: Its layers.
        golden: (frames, *shape of one), by the tensors of all links.

    Returns:
        None if every layer gives different values in some frames.
    """
    found = [layer for layer in design.layers if _is_constant(layer, design, golden)]
    if not found:
        return None
    turns = np.arange(FRAMES) % len(next(iter(golden.values())))
    fed = {name: stack[turns] for name, stack in golden.items()}
    given, still = dict(fed), []
    for layer in found:
        takes, gives = _layouts(layer, design)
        made, results = _frames(model, takes, gives, golden)
        fed |= made
        given |= results
        still += [layer.name] if all(is_same(each) for each in results.values()) else []
    return OwnFrames(tuple(layer.name for layer in found), fed, given, tuple(still))


def is_same(stack: Stack) -> bool:
    """Tell whether all frames are alike."""
    return bool((stack == stack[:1]).all())


def _is_constant(layer: Layer, design: Design, golden: Mapping[str, Stack]) -> bool:
    takes, gives = _layouts(layer, design)
    return bool(takes and gives) and all(is_same(golden[layout.tensor]) for layout in gives)


def _layouts(layer: Layer, design: Design) -> tuple[list[Layout], list[Layout]]:
    """Return how the tensors lie that a layer takes, and those that it gives."""
    links = [link for link in design.links if link.layout is not None]
    takes = [link.layout for link in links if link.target.layer == layer.name and link.layout]
    return takes, [link.layout for link in links if link.source.layer == layer.name and link.layout]


def _frames(
    model: ModelWrapper, takes: Sequence[Layout], gives: Sequence[Layout], golden: Mapping[str, Stack]
) -> tuple[Stacks, Stacks]:
    """Return frames for a layer, and what it gives; golden ones where its datatypes hold no others."""
    from brainsmith.execution.model_part import ModelPart
    from brainsmith.rtl.cores.stimuli import stimuli

    names, results = [each.tensor for each in takes], [each.tensor for each in gives]
    nodes = [node for node in model.graph.node if set(results) & set(node.output)]
    part = ModelPart(model, nodes, names, results)
    kinds = [(each.shape, model.get_tensor_datatype(each.tensor).name) for each in takes]
    drawn = dict(zip(names, stimuli(SEED, kinds, FRAMES), strict=True))
    random = np.random.default_rng(SEED)
    fed: dict[str, list[Stack]] = {name: [] for name in names}
    given: dict[str, list[Stack]] = {name: [] for name in results}

    def enter(one: Mapping[str, Stack]) -> None:
        out = part.run({name: values.astype(np.float32) for name, values in one.items()})
        takes_whole = {each.tensor: whole(one[each.tensor], each) for each in takes}
        gives_whole = {each.tensor: whole(out[each.tensor], each) for each in gives}
        for side, found in ((fed, takes_whole), (given, gives_whole)):
            for name, values in found.items():
                side[name].append(values)

    for at in range(FRAMES):
        for share in _SHARES:
            chosen = {
                name: np.where(random.random(stack[at].shape) < share, stack[at], golden[name][0])
                for name, stack in drawn.items()
            }
            with suppress(BuildError):  # a tensor of the layer does not hold what that gives
                enter({name: values[None] for name, values in chosen.items()})
                break
    if not fed[names[0]]:
        enter({name: golden[name][:1] for name in names})
    return _repeated(fed), _repeated(given)


def _repeated(found: Mapping[str, list[Stack]]) -> Stacks:
    """Return as many frames as there shall be, the same ones again where fewer were found."""
    return {name: np.concatenate(frames)[np.arange(FRAMES) % len(frames)] for name, frames in found.items()}
