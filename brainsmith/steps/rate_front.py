"""rate_front: of each interval that a network can have, the cheapest circuit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brainsmith.plugin.core import step
from brainsmith.steps.step_reports import write_report

if TYPE_CHECKING:
    from qonnx.core.modelwrapper import ModelWrapper

REPORT = "report/front.json"
"""The front, in the output folder."""


@step(description="List the cheapest circuit of each interval that the layers' foldings allow")
def rate_front(model: ModelWrapper, cfg: Any, synthesise: bool = False) -> ModelWrapper:
    """Write `report/front.json` for `cfg.fpga_part`; the model, which must be specialised, stays as it is.

    Costs are shares of the part: the sum of those of LUTs, block RAMs and DSP slices. What costs more than there is
    is in it too: it fits a larger part.

    Args:
        model: Specialised.
        cfg: Says the part and the clock.
        synthesise: Whether each folding of an RTL layer without a model is synthesised, alone.

    Raises:
        BuildError: The part is not known, or layers have no model of what they take; the message names them.
    """
    from brainsmith.rtl.devices.device import RESOURCES, require_device
    from brainsmith.rtl.fitting.cheapest import front_of
    from brainsmith.rtl.fitting.options import budget_of
    from brainsmith.steps.bit_widths import minimise_bit_widths
    from brainsmith.steps.folding_options import FRONT, options_of
    from brainsmith.steps.legal_foldings import WEIGHT_STREAM_BITS

    device = require_device(cfg._resolve_fpga_part())
    weights = getattr(cfg, "mvau_wwidth_max", WEIGHT_STREAM_BITS)
    asked = FRONT._replace(synthesise=synthesise)
    network = options_of(minimise_bit_widths(model, cfg), cfg, weights, asked).network
    points = [
        {
            "interval_cycles": point.interval,
            "fps": 1e9 / (point.interval * cfg.synth_clk_period_ns),
            "cost": point.cost,
            "needs": dict(zip(RESOURCES, map(int, point.needs), strict=True)),
            "proven": point.proven,
        }
        for point in front_of(network, budget_of(device))
    ]
    write_report(
        cfg,
        REPORT,
        {
            "device": device.name,
            "clock_ns": cfg.synth_clk_period_ns,
            "available": {name: getattr(device, name) for name in RESOURCES},
            "intervals": len(network.intervals),
            "points": points,
        },
    )
    return model
