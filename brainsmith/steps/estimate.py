"""estimate: say how fast and how large the accelerator will be, from analytic models."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brainsmith.errors import BuildError
from brainsmith.plugin.core import step
from brainsmith.rtl.cores.frame_cycles import frame_cycles
from brainsmith.rtl.fitting.fit import REPORT as FIT
from brainsmith.rtl.resource_models.resource_model import coefficients
from brainsmith.steps.beat_flow import model_flow
from brainsmith.steps.converters import with_converters
from brainsmith.steps.hardware_nodes import backend_type
from brainsmith.steps.layers_alone import synthesised_alone
from brainsmith.steps.resources import RESOURCES, estimated_resources, resources_of_fifos
from brainsmith.steps.step_reports import read_report, write_report

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onnx import NodeProto
    from qonnx.core.modelwrapper import ModelWrapper

_SAME = 0.01
"""By what share an estimate may differ from what foldings were chosen for: bit widths are minimised again after that."""

ATTRIBUTES = (
    "PE",
    "SIMD",
    "M",
    "parallel_window",
    "MW",
    "MH",
    "NumChannels",
    "IFMChannels",
    "ConvKernelDim",
    "Stride",
    "mem_mode",
    "ram_style",
    "resType",
    "inputDataType",
    "weightDataType",
    "accDataType",
    "outputDataType",
)
"""What the report says of a layer, where the layer has it."""


@step(description="Estimate cycles and resources of every layer and of the whole accelerator")
def estimate(model: ModelWrapper, cfg: Any, synthesise: bool = False) -> ModelWrapper:
    """Write `report/estimates.json` in `cfg.output_dir`: cycles, rate, latency and resources.

    The interval is that of the slowest layer. Latency and FIFOs follow from when each layer takes and gives
    its beats (`steps/beat_flow.py`); `latency_assumed` names the layers of which that is not known, which are taken to give
    a frame after they took all of it. Resources are what backends of
    this project state, what calibrated models say of FINN's RTL layers, and FINN's own estimates of all others
    (`steps/resources.py`). Layers without a model of their LUTs are listed under `lut_not_modelled`, so that a total
    of LUTs is read as a lower bound. The width converters that `rtl_codegen` will insert between layers are counted too,
    and the FIFOs (`fifos`), as deep as the flow asks for. Each layer's attribute `cycles_estimate` is set.

    Args:
        model: Its layers have backends.
        cfg: Gives the output folder, the part and the clock.
        synthesise: Whether an RTL layer without a model is synthesised, alone; `counted` lists those. It is in any case
            where `fold` was asked to.

    Raises:
        BuildError: The model has no specialised layer, or Yosys refuses one that is synthesised.
        ToolError: A layer is to be synthesised, and pyosys is missing.
    """
    part = cfg._resolve_fpga_part()
    if not any(map(backend_type, model.graph.node)):
        advice = "no layer has a backend yet. Run the step specialize first"
        raise BuildError(f"there is nothing to estimate: {advice}")
    for node in filter(backend_type, model.graph.node):
        _state_cycles(node)
    circuit = with_converters(model, cfg)
    layers = [_layer(node, part, circuit) for node in circuit.graph.node if backend_type(node)]
    fit = _fit_of(cfg)
    counted = _count(layers, circuit, cfg) if synthesise or (fit and fit["synthesise"]) else []
    interval = max(layer["cycles"] for layer in layers)
    moved = model_flow(circuit, part, cfg.synth_clk_period_ns, interval)
    fifos = resources_of_fifos(moved.fifos, part)
    report = {
        "layers": layers,
        "interval_cycles": interval,
        "latency_cycles": moved.flow.latency,
        "latency_assumed": list(moved.assumed),
        "fifo_bits": moved.flow.fifo_bits,
        "gauge_bits": moved.flow.gauge_bits,
        "fps": 1e9 / (max(interval, 1) * cfg.synth_clk_period_ns),
        **{name: fifos[name] + sum(layer[name] or 0 for layer in layers) for name in RESOURCES},
        "fifos": fifos,
        "lut_not_modelled": [layer["name"] for layer in layers if layer["lut"] is None],
        "counted": counted,
        "calibrated_with": coefficients()["tool"],
    }
    write_report(cfg, "report/estimates.json", report)
    if fit is not None:
        _compare_with_fit(fit, report)
    return model


def _fit_of(cfg: Any) -> dict[str, Any] | None:
    """Return what `fold` wrote of the foldings that it fitted; None if it did not."""
    return None if getattr(cfg, "fit", None) is None else read_report(Path(cfg.output_dir) / FIT)


def _compare_with_fit(fit: Mapping[str, Any], report: Mapping[str, Any]) -> None:
    """Warn where the layers as they are now are not what `fold` chose them for, within 1 %."""
    promised = {name: fit["needs"][name] + fit["deeper"][name] for name in RESOURCES}
    promised["interval_cycles"] = fit["interval_cycles"]
    off = [
        f"{name} {report[name]:,} in place of {value:,}"
        for name, value in promised.items()
        if abs(report[name] - value) > _SAME * value
    ]
    if off:
        logging.getLogger(__name__).warning(
            "the estimate is not what the foldings were chosen for: %s; a step after fold changed layers",
            ", ".join(off),
        )


def _state_cycles(node: NodeProto) -> None:
    """Set the attribute of a layer that says its estimated cycles, where it has one."""
    from qonnx.custom_op.registry import getCustomOp

    layer = getCustomOp(node)
    if "cycles_estimate" in layer.get_nodeattr_types():
        layer.set_nodeattr("cycles_estimate", frame_cycles(layer))


def _layer(node: NodeProto, part: str, model: ModelWrapper) -> dict[str, Any]:
    """Estimate one layer."""
    from qonnx.custom_op.registry import getCustomOp

    layer = getCustomOp(node)
    cycles = frame_cycles(layer)
    known = layer.get_nodeattr_types()
    return {
        "name": node.name,
        "op_type": node.op_type,
        "backend": backend_type(node),
        "cycles": cycles,
        **estimated_resources(layer, part, model),
        "attributes": {name: _plain(layer.get_nodeattr(name)) for name in ATTRIBUTES if name in known},
    }


def _count(layers: list[dict[str, Any]], model: ModelWrapper, cfg: Any) -> list[str]:
    """Synthesise RTL layers without a model, each alone, and return their names."""
    nodes = {node.name: node for node in model.graph.node}
    unknown = [layer for layer in layers if layer["lut"] is None and layer["backend"] == "rtl"]
    for layer in unknown:
        layer |= synthesised_alone(
            nodes[layer["name"]], model, cfg._resolve_fpga_part(), cfg.synth_clk_period_ns
        )
    return [layer["name"] for layer in unknown]


def _plain(value: Any) -> Any:
    """Return an attribute as JSON can hold it."""
    return value if isinstance(value, (int, float, str)) else [int(entry) for entry in value]
