"""estimate: say how fast and how large the accelerator will be, from analytic models."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brainsmith.errors import BuildError
from brainsmith.plugin.core import step
from brainsmith.rtl.cores.frame_cycles import frame_cycles
from brainsmith.rtl.resource_models.resource_model import coefficients
from brainsmith.steps.converters import with_converters
from brainsmith.steps.fitted_folding import REPORT as FIT
from brainsmith.steps.hardware_nodes import backend_type
from brainsmith.steps.layers_alone import synthesised_alone
from brainsmith.steps.resources import RESOURCES, estimated_resources
from brainsmith.steps.step_reports import read_report, write_report

if TYPE_CHECKING:
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

    The interval is that of the slowest layer; the latency is the sum along the longest path, as if no layer
    began before the one in front had finished (FINN's measure, so an upper bound). Resources are what backends of
    this project state, what calibrated models say of FINN's RTL layers, and FINN's own estimates of all others
    (`steps/resources.py`). Layers without a model of their LUTs are listed under `lut_not_modelled`, so that a total
    of LUTs is read as a lower bound. The width converters that
    `rtl_codegen` will insert between layers are counted too, but not in the latency, since they pass on what they
    get. Each layer's attribute `cycles_estimate` is set.

    Args:
        model: Its layers have backends.
        cfg: Gives the output folder, the part and the clock.
        synthesise: Whether an RTL layer without a model is synthesised, alone; `counted` lists those.

    Raises:
        BuildError: The model has no specialised layer, or Yosys refuses one that is synthesised.
        ToolError: A layer is to be synthesised, and pyosys is missing.
    """
    part = cfg._resolve_fpga_part()
    if not any(map(backend_type, model.graph.node)):
        raise BuildError(
            "there is nothing to estimate: no layer has a backend yet. Run the step specialize first"
        )
    cycles = {node.name: _state_cycles(node) for node in model.graph.node if backend_type(node)}
    circuit = with_converters(model, cfg)
    layers = [_layer(node, part, circuit) for node in circuit.graph.node if backend_type(node)]
    counted = _count(layers, circuit, cfg) if synthesise else []
    interval = max(layer["cycles"] for layer in layers)
    report = {
        "layers": layers,
        "interval_cycles": interval,
        "latency_cycles": _latency(model, cycles),
        "fps": 1e9 / (max(interval, 1) * cfg.synth_clk_period_ns),
        **{name: sum(layer[name] or 0 for layer in layers) for name in RESOURCES},
        "lut_not_modelled": [layer["name"] for layer in layers if layer["lut"] is None],
        "counted": counted,
        "calibrated_with": coefficients()["tool"],
    }
    write_report(cfg, "report/estimates.json", report)
    _compare_with_fit(cfg, report)
    return model


def _compare_with_fit(cfg: Any, report: dict[str, Any]) -> None:
    """Warn where the layers as they are now are not what `fold` chose them for, within 1 %."""
    fit = read_report(Path(cfg.output_dir) / FIT)
    if getattr(cfg, "fit", None) is None or fit is None:
        return
    promised = {name: fit["needs"][name] - fit["fifos"][name] for name in RESOURCES}
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


def _state_cycles(node: NodeProto) -> int:
    """Return the estimated cycles of a layer, and set its attribute that says so, where it has one."""
    from qonnx.custom_op.registry import getCustomOp

    layer = getCustomOp(node)
    cycles = frame_cycles(layer)
    if "cycles_estimate" in layer.get_nodeattr_types():
        layer.set_nodeattr("cycles_estimate", cycles)
    return cycles


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


def _latency(model: ModelWrapper, cycles: dict[str, int]) -> int:
    """Return the longest sum of cycles from an input to an output; host nodes take none."""
    ready: dict[str, int] = {}
    for node in model.graph.node:
        begin = max((ready.get(name, 0) for name in node.input), default=0)
        ready.update(dict.fromkeys(node.output, begin + cycles.get(node.name, 0)))
    return max(ready.values(), default=0)
