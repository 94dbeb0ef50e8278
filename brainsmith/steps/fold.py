"""fold: give every hardware layer the parallelism that the target rate needs."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from brainsmith.plugin.core import step
from brainsmith.rtl.cores.frame_cycles import frame_cycles
from brainsmith.steps.backend_choice import choose_backends, chosen_before
from brainsmith.steps.bit_widths import minimise_bit_widths
from brainsmith.steps.dividing_widths import prefer_dividing_widths
from brainsmith.steps.fitted_folding import fit_foldings
from brainsmith.steps.folding_options import FOLD
from brainsmith.steps.hardware_nodes import has_backend, is_layer
from brainsmith.steps.legal_foldings import WEIGHT_STREAM_BITS
from brainsmith.steps.own_transforms import transformed
from brainsmith.steps.rows_at_once import avoid_whole_rows
from brainsmith.steps.stated_parallelism import fold_as_stated, raise_attribute, states_parallelism

if TYPE_CHECKING:
    from qonnx.core.modelwrapper import ModelWrapper

HIDDEN = "brainsmith.folded"
"""A domain in which FINN's folding sees no layer: it says of each that it does not know it, and skips it."""

PARALLELISM = {"SIMD": ("MW", "NumChannels", "ifm_dim"), "PE": ("MH", "NumChannels")}
"""What folding may raise in a layer that does not state it, and the attributes that give the limit."""


@step(description="Set PE and SIMD of every layer for the target frame rate")
def fold(model: ModelWrapper, cfg: Any, synthesise: bool = False) -> ModelWrapper:
    """Fold a specialised model to `cfg.target_fps`; without a rate, leave it as it is.

    With `cfg.fit` the foldings of all layers are chosen together instead (`fitted_folding.py`): the smallest interval,
    latency or cost that fits a share of the device, and then the cheapest circuit for it.

    Backends that state what makes them faster (`parallelism()`) are raised until their cycles fit the rate, with the
    sliding window in front; FINN's SetFolding folds its own. If a layer cannot be as fast, all others are folded for
    its rate, unless `cfg.folding_two_pass_relaxation` is False.

    FINN's matrix-vector unit takes no whole row or window at once (SIMD = MW, or the size of Kernel): its
    `mvu_vvu_axi` then loses data when its output stalls. It gets a smaller SIMD and more PE instead. Where that is
    slower than the target, another RTL backend of the kernel takes its place, or a warning says so. Where the beats
    of a matrix-vector unit and its neighbour do not divide each other, it gets another SIMD and PE for which they do,
    if that is as small and fast enough. Bit widths are minimised afterwards, since the accumulators of RTL and HLS
    layers differ.

    Args:
        model: Its layers have backends.
        cfg: Says what to fold for, the part and the clock.
        synthesise: Whether, with `cfg.fit`, each folding of an RTL layer without a model is synthesised, alone.
    """
    weights = getattr(cfg, "mvau_wwidth_max", WEIGHT_STREAM_BITS)
    if getattr(cfg, "fit", None) is not None:
        return minimise_bit_widths(
            fit_foldings(model, cfg, weights, FOLD._replace(synthesise=synthesise)), cfg
        )
    cycles = _cycles_per_frame(cfg)
    if cycles is not None:
        model = _fold_all(model, cfg, cycles)
        # A model with nodes of the host is left at what was asked for.
        if getattr(cfg, "folding_two_pass_relaxation", True) and all(is_layer(n) for n in model.graph.node):
            name, slowest = _slowest(model)
            if slowest > cycles:
                logging.getLogger(__name__).warning(
                    "%s takes %d cycles per frame, and the target is %d: all layers are folded for its rate",
                    name, slowest, cycles,
                )  # fmt: skip
                cycles = slowest
                model = _fold_all(model, cfg, cycles)
        model = avoid_whole_rows(model, cfg, cycles)
        prefer_dividing_widths(model, cycles, cfg._resolve_fpga_part(), weights)
    return minimise_bit_widths(_decompose_shuffles(model, cfg), cfg)


def _fold_all(model: ModelWrapper, cfg: Any, cycles: int) -> ModelWrapper:
    """Fold each layer by its own rules: FINN's by FINN's, others by what they state."""
    from finn.transformation.fpgadataflow.set_folding import SetFolding
    from qonnx.core.modelwrapper import ModelWrapper

    model = ModelWrapper(model.model, make_deepcopy=True)
    width = getattr(cfg, "mvau_wwidth_max", WEIGHT_STREAM_BITS)
    domains = {at: node.domain for at, node in enumerate(model.graph.node) if states_parallelism(node)}
    for at in domains:
        model.graph.node[at].domain = HIDDEN
    finns = SetFolding(cycles, mvau_wwidth_max=width, two_pass_relaxation=False)
    model = model.transform(finns, make_deepcopy=False)
    for at, domain in domains.items():
        model.graph.node[at].domain = domain
    for at in domains:
        fold_as_stated(model, model.graph.node[at], cycles)
    _fold_own(model, cycles)
    return model


def _slowest(model: ModelWrapper) -> tuple[str, int]:
    """Return the name and cycles of the first of the slowest layers that have a backend."""
    from qonnx.custom_op.registry import getCustomOp

    cycles = {node.name: frame_cycles(getCustomOp(node)) for node in model.graph.node if has_backend(node)}
    return max(cycles.items(), key=lambda entry: entry[1], default=("", 0))


def _decompose_shuffles(model: ModelWrapper, cfg: Any) -> ModelWrapper:
    """Split transposes on the chip, which are folded as a whole, into the parts that have backends.

    The report of backends keeps the layers that were there before, and gets the parts: not those of an earlier run.
    """
    if not any(node.op_type == "Shuffle" for node in model.graph.node):
        return model
    from finn.transformation.fpgadataflow.transpose_decomposition import (
        InferInnerOuterShuffles,
        ShuffleDecomposition,
    )

    there = {node.name for node in model.graph.node}
    earlier = [layer for layer in chosen_before(cfg) if layer["layer"] in there]
    parts = transformed(model, ShuffleDecomposition(), InferInnerOuterShuffles())
    return choose_backends(parts, cfg, earlier)


def _cycles_per_frame(cfg: Any) -> int | None:
    """Return the clock cycles between two frames at the target rate; None without one."""
    if not cfg.target_fps:
        return None
    return max(1, int(1e9 / (cfg.synth_clk_period_ns * cfg.target_fps)))


def _fold_own(model: ModelWrapper, cycles: int) -> None:
    """Fold layers of other frameworks than FINN that do not state what makes them faster."""
    from qonnx.custom_op.registry import getCustomOp

    for node in model.graph.node:
        stated = {attribute.name for attribute in node.attribute}
        if node.domain.startswith("finn.") or not stated & {"PE", "SIMD"} or states_parallelism(node):
            continue
        layer = getCustomOp(node)
        for name, limits in PARALLELISM.items():
            stating = [layer.get_nodeattr(other) for other in limits if other in stated]
            if name in stated and stating:
                limit = stating[0] if isinstance(stating[0], int) else stating[0][-1]
                raise_attribute(layer, name, int(limit), cycles)
