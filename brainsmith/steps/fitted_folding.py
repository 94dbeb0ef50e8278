"""Foldings that fit a device, chosen together: what `fold` does where the blueprint's target has `fit`."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from brainsmith.errors import BuildError
from brainsmith.figures import share
from brainsmith.rtl.devices.device import RESOURCES
from brainsmith.rtl.fitting.fit import REPORT
from brainsmith.rtl.fitting.misfit import why_nothing_fits
from brainsmith.rtl.fitting.options import budget_of
from brainsmith.rtl.fitting.solve import Chosen, choose, fits
from brainsmith.steps.backend_choice import chosen_again
from brainsmith.steps.bit_widths import minimise_bit_widths
from brainsmith.steps.folding_options import options_of
from brainsmith.steps.hardware_nodes import has_backend
from brainsmith.steps.legal_foldings import set_all
from brainsmith.steps.step_reports import write_report

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.rtl.fitting.fit import Fit
    from brainsmith.rtl.fitting.options import Network
    from brainsmith.steps.folding_options import Folding

_SECONDS_EACH = 2.0
"""How long is looked for foldings with some bits of weights, where nothing fits."""

_LEAST_BITS, _TRIED_BITS = 2, 3
"""Bits of weights that are tried where nothing fits: from the fewest on, so many."""


def fit_foldings(model: ModelWrapper, cfg: Any, weights: int) -> ModelWrapper:
    """Fold a specialised model for `cfg.fit`, and write `report/fit.json`.

    Args:
        model: Not changed.
        cfg: Says the part, the clock, which backends are allowed, and what to fit.
        weights: The widest weight stream of one processing element, bits.

    Raises:
        BuildError: Layers have no model of what they take; or no folding fits: the message says of what there is too
            little, and what would fit.
    """
    fit: Fit = cfg.fit
    model = minimise_bit_widths(model, cfg)
    options = options_of(model, cfg, weights)
    interval = None if fit.fps is None else max(1, int(1e9 / (cfg.synth_clk_period_ns * fit.fps)))
    found = choose(options.network, budget_of(fit.device, fit.use), fit.goal, interval)
    if not isinstance(found, Chosen):
        bits = None if found.slowest else _fitting_bits(model, cfg, weights, interval)
        raise BuildError(why_nothing_fits(options.network, found, fit, cfg.synth_clk_period_ns, bits))
    if not found.proven:
        logging.getLogger(__name__).warning(
            "the foldings are not proven to be the best ones: another choice may cost %s less",
            share(found.gap, 1),
        )
    write_report(cfg, REPORT, _reported(options.network, options.layers_alone, found, fit))
    return _applied(model, cfg, options.network, found.choice)


def _fitting_bits(model: ModelWrapper, cfg: Any, weights: int, interval: int | None) -> int | None:
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
        network = options_of(fewer, cfg, weights).network
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


def _reported(network: Network, alone: Network, found: Chosen, fit: Fit) -> dict[str, Any]:
    """Return what `report/fit.json` holds."""
    budget = budget_of(fit.device, fit.use)
    needs, layers = found.needs, alone.needs_of(found.choice)
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
        "options": sum(len(layer.cycles) for layer in network.layers),
        "limits": dict(zip(RESOURCES, map(int, budget.limits), strict=True)),
        "needs": dict(zip(RESOURCES, map(int, needs), strict=True)),
        "fifos": dict(zip(RESOURCES, map(int, needs - layers), strict=True)),
    }
