"""Foldings that fit a device, chosen together: what `fold` does where the blueprint's target has `fit`."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.errors import BuildError
from brainsmith.figures import share
from brainsmith.rtl.devices.device import RESOURCES
from brainsmith.rtl.fitting.fit import REPORT
from brainsmith.rtl.fitting.misfit import why_nothing_fits
from brainsmith.rtl.fitting.options import budget_of
from brainsmith.rtl.fitting.solve import Chosen, choose, fits
from brainsmith.steps.backend_choice import chosen_again
from brainsmith.steps.beat_flow import model_flow
from brainsmith.steps.bit_widths import minimise_bit_widths
from brainsmith.steps.converters import with_converters
from brainsmith.steps.folding_options import FOLD, Asked, options_of
from brainsmith.steps.hardware_nodes import has_backend
from brainsmith.steps.legal_foldings import set_all
from brainsmith.steps.resources import resources_of_fifos
from brainsmith.steps.step_reports import write_report

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.rtl.fitting.fit import Fit
    from brainsmith.rtl.fitting.options import Counts, DeviceBudget, Network
    from brainsmith.steps.folding_options import Folding, FoldingOptions

_ATTEMPTS = 4
"""How often foldings are chosen again, with room for FIFOs that are deeper than was thought."""

_SECONDS_EACH = 2.0
"""How long is looked for foldings with some bits of weights, where nothing fits."""

_LEAST_BITS, _TRIED_BITS = 2, 3
"""Bits of weights that are tried where nothing fits: from the fewest on, so many."""


def fit_foldings(model: ModelWrapper, cfg: Any, weights: int, asked: Asked = FOLD) -> ModelWrapper:
    """Fold a specialised model for `cfg.fit`, and write `report/fit.json`.

    Args:
        model: Not changed.
        cfg: Says the part, the clock, which backends are allowed, and what to fit.
        weights: The widest weight stream of one processing element, bits.
        asked: What is done with layers without a model.

    Raises:
        BuildError: Layers have no model of what they take; or no folding fits: the message says of what there is too
            little, and what would fit.
    """
    fit: Fit = cfg.fit
    model = minimise_bit_widths(model, cfg)
    options = options_of(model, cfg, weights, asked)
    interval = None if fit.fps is None else max(1, int(1e9 / (cfg.synth_clk_period_ns * fit.fps)))
    budget = budget_of(fit.device, fit.use)
    found = choose(options.network, budget, fit.goal, interval)
    if not isinstance(found, Chosen):
        bits = None if found.slowest else _fitting_bits(model, cfg, weights, asked, interval)
        raise BuildError(why_nothing_fits(options.network, found, fit, cfg.synth_clk_period_ns, bits))
    folded = _with_room(_Folded.of(model, cfg, options, found), budget, interval)
    found = folded.found
    if not found.proven:
        logging.getLogger(__name__).warning(
            "the foldings are not proven to be the best ones: another choice may cost %s less",
            share(found.gap, 1),
        )
    write_report(cfg, REPORT, {**_reported(folded, fit), "synthesise": asked.synthesise})
    return folded.model


@dataclass(frozen=True)
class _Folded:
    """A model as it was chosen.

    Attributes:
        unfolded: The model before.
        cfg: Of the build.
        options: What could be chosen.
        found: What was.
        model: With these foldings.
        deeper: What its FIFOs take beyond the shortest ones, which `found` counts, (resources,).
    """

    unfolded: ModelWrapper
    cfg: Any
    options: FoldingOptions
    found: Chosen
    model: ModelWrapper
    deeper: Counts

    @classmethod
    def of(cls, model: ModelWrapper, cfg: Any, options: FoldingOptions, found: Chosen) -> _Folded:
        """Fold a model, and find out how deep its FIFOs will be."""
        folded = _applied(model, cfg, options.network, found.choice)
        circuit, part = with_converters(folded, cfg), cfg._resolve_fpga_part()
        flow = model_flow(circuit, part, cfg.synth_clk_period_ns, found.interval)
        fifos = resources_of_fifos(flow.fifos, part)
        shortest = found.needs - options.layers_alone.needs_of(found.choice)
        return cls(
            model, cfg, options, found, folded, np.array([fifos[name] for name in RESOURCES]) - shortest
        )


def _with_room(first: _Folded, budget: DeviceBudget, interval: int | None) -> _Folded:
    """Return foldings that fit with FIFOs as deep as they will be, which is known of chosen ones only.

    Where the first ones do not, others are chosen for what the FIFOs leave. Bounds stay those of the first, which hold
    for any depth. The first are returned if nothing fits beside the FIFOs; the report then says what is exceeded.
    """
    folded, room = first, np.zeros_like(budget.limits)
    for _ in range(_ATTEMPTS):
        if (folded.found.needs + folded.deeper <= budget.limits).all():
            return folded
        room = np.maximum(room, folded.deeper)
        less = replace(budget, limits=np.maximum(budget.limits - room, 0))
        found = choose(first.options.network, less, first.found.goal, interval)
        if not isinstance(found, Chosen):
            return first
        folded = _Folded.of(first.unfolded, first.cfg, first.options, found.bounded_by(first.found))
    return folded


def _fitting_bits(
    model: ModelWrapper, cfg: Any, weights: int, asked: Asked, interval: int | None
) -> int | None:
    """Return with how many bits of weights the network would fit, as it is otherwise; None if with none."""
    from qonnx.core.datatype import DataType
    from qonnx.core.modelwrapper import ModelWrapper
    from qonnx.custom_op.registry import getCustomOp

    fewer = ModelWrapper(model.model, make_deepcopy=True)
    layers = [getCustomOp(node) for node in fewer.graph.node if has_backend(node)]
    products = [
        layer for layer in layers if {"weightDataType", "accDataType"} <= layer.get_nodeattr_types().keys()
    ]
    held = {layer: int(DataType[layer.get_nodeattr("weightDataType")].bitwidth()) for layer in products}
    tried = range(max(held.values(), default=0) - 1, _LEAST_BITS - 1, -1)
    for bits in list(tried)[-_TRIED_BITS:]:
        for layer, before in held.items():
            if before > bits:
                layer.set_nodeattr("weightDataType", f"INT{bits}")
        network = options_of(fewer, cfg, weights, asked).network
        if fits(network, budget_of(cfg.fit.device, cfg.fit.use), interval, _SECONDS_EACH):
            return bits
    return None


def _applied(model: ModelWrapper, cfg: Any, network: Network, choice: Sequence[int]) -> ModelWrapper:
    """Return the model with the foldings, and other backends, that were chosen."""
    from qonnx.core.modelwrapper import ModelWrapper
    from qonnx.custom_op.registry import getCustomOp

    model = ModelWrapper(model.model, make_deepcopy=True)
    replaced = {}
    for layer, at in zip(network.layers, choice, strict=True):
        folding: Folding = layer.foldings[at]
        for place, attributes in folding.settings:
            set_all(getCustomOp(model.graph.node[place]), attributes)
        if folding.backend:
            replaced[folding.settings[-1][0]] = folding.backend
    for backend in sorted(set(replaced.values())):
        places = [place for place, name in replaced.items() if name == backend]
        model = chosen_again(model, cfg, places, backend)
    return model


def _reported(folded: _Folded, fit: Fit) -> dict[str, Any]:
    """Return what `report/fit.json` holds."""
    found, options = folded.found, folded.options
    budget, layers = budget_of(fit.device, fit.use), options.layers_alone.needs_of(found.choice)
    return {
        "device": fit.device.name,
        "use": fit.use,
        "goal": fit.goal,
        "at_least_fps": fit.fps,
        "interval_cycles": found.interval,
        "interval_bound": found.interval_bound,
        "latency_cycles": found.latency,
        "latency_bound": found.latency_bound,
        "cost": found.cost,
        "cost_bound": found.cost_bound,
        "gap": found.gap,
        "proven": found.proven,
        "seconds": round(found.seconds, 3),
        "options": sum(len(layer.cycles) for layer in options.network.layers),
        "limits": dict(zip(RESOURCES, map(int, budget.limits), strict=True)),
        "needs": dict(zip(RESOURCES, map(int, found.needs), strict=True)),
        "fifos": dict(zip(RESOURCES, map(int, found.needs - layers), strict=True)),
        "deeper": dict(zip(RESOURCES, map(int, folded.deeper), strict=True)),
    }
