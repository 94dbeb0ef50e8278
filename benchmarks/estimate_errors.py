"""How far the estimates of networks are from what Yosys finds, layer by layer and as whole designs."""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from apart import synthesised_apart
from calibration_points import point
from example_orders import EXAMPLES
from export_builds import INPUTS
from measure import ROOT, row

LARGE, MISS = 100, 0.25
"""Layers of so many LUTs count; an error above the second is listed."""

MEDIAN, TAIL, WHOLE = 0.10, 0.25, 0.10
"""What the median, the 95th percentile, and a whole design may be off by."""

FOLDINGS, SECONDS = 100_000, 0.1
"""How many foldings of a layer are estimated at once, and how long that may take."""

FOLDED = {
    "MVAU_rtl": {"SIMD": "MW", "PE": "MH"},
    "Thresholding_rtl": {"PE": "NumChannels"},
    "ConvolutionInputGenerator_rtl": {"SIMD": "IFMChannels"},
    "BinaryMVAU_rtl": {"SIMD": "MW", "PE": "MH"},
}
"""What each attribute of a folding divides."""

PART = "xczu7ev-ffvc1156-2-e"
EXPORTS = ("tfc_1w1a", "tfc_2w2a", "cnv_2w2a")
FPS = 20_000
FRONT = ["cleanup", "integer", "hardware_inference", "specialize", "fold", "estimate"]
CIRCUIT = ["rtl_codegen", "rtl_stitch"]
EXACT = ("bram18", "uram", "dsp")


@dataclass(frozen=True)
class Network:
    """A network that is synthesised.

    Attributes:
        model: Its file.
        blueprint: Its file; none for three lines with the part alone.
        datatype: Of its inputs, if the model does not say it.
    """

    model: Path
    blueprint: Path | None = None
    datatype: str | None = None


def networks(folder: Path | None) -> dict[str, Network]:
    """Return the examples, and of the exports in a folder `EXPORTS`, those that are there."""
    found = {
        name: Network(ROOT / "examples" / f"{name}.onnx", ROOT / "blueprints" / f"{blueprint}.yaml")
        for name, blueprint in EXAMPLES.items()
    }
    if folder is not None:
        found |= {name: Network(folder / f"{name}.onnx", datatype=INPUTS.get(name)) for name in EXPORTS}
    return {name: each for name, each in found.items() if each.model.is_file()}


def estimates(options: argparse.Namespace) -> None:
    """Print the errors of all networks, or of those that are named.

    Args:
        options: Have `folder`, of exports, or None, `names`, and `apart`, whether layers are synthesised alone.
    """
    errors: dict[str, list[float]] = {"lut": [], "ff": []}
    designs: list[float] = []
    inexact = 0
    for name, network in networks(options.folder).items():
        if options.names and name not in options.names:
            continue
        report = synthesised(network, options.apart)
        for layer in report["layers"]:
            inexact += _compare(name, layer, errors)
        whole = {kind: report["error"][kind] for kind in errors}
        designs += [abs(error) for error in whole.values() if error is not None]
        print(f"  {name}: {report['lut']:,} LUT, {report['ff']:,} FF, estimated {_shares(whole)}", flush=True)
    for kind, found in errors.items():
        _row(f"{kind} of {len(found)} layers, estimated against synthesised", found)
    row(
        "... sums of layers, the farthest" if options.apart else "... whole designs, the farthest",
        f"{max(designs, default=0):.1%}",
        f"{WHOLE:.0%}",
        reached=max(designs, default=1) <= WHOLE,
    )
    row("... layers whose block RAM, UltraRAM, DSP are not exact", str(inexact), "0", reached=not inexact)


def foldings(options: argparse.Namespace) -> None:
    """Estimate many foldings of one layer at once: of FINN's layers with calibrated models, and of one of this project.

    Args:
        options: None of them matters.
    """
    from qonnx.custom_op.registry import getCustomOp

    from brainsmith.rtl.cores.parallelism import divisors
    from brainsmith.rtl.cores.trial import make_model
    from brainsmith.rtl.resource_models.layer_needs import layer_needs

    for kernel, whole in FOLDED.items():
        model = make_model([point(kernel, 1)])
        layer = getCustomOp(model.graph.node[0])
        random = np.random.default_rng(0)
        chosen = {
            name: random.choice(divisors(layer.get_nodeattr(of)), FOLDINGS) for name, of in whole.items()
        }
        begin = time.process_time()
        layer_needs(layer, PART, model, chosen)
        seconds = time.process_time() - begin
        row(
            f"{FOLDINGS:,} foldings of {kernel}",
            f"{seconds * 1e3:.0f} ms",
            f"{SECONDS * 1e3:.0f} ms",
            reached=seconds <= SECONDS,
        )


def _compare(name: str, layer: dict[str, Any], errors: dict[str, list[float]]) -> bool:
    """Add a layer's errors, and print what is missed; tell whether its memories and slices are not exact."""
    estimate = layer["estimate"] or {}
    wrong = [kind for kind in EXACT if estimate.get(kind) != layer[kind]]
    if wrong:
        told = ", ".join(f"{kind} {layer[kind]}, estimated {estimate.get(kind)}" for kind in wrong)
        print(f"    not exact: {name} {layer['name']}: {told}")
    for kind, found in errors.items():
        error = layer["error"][kind]
        if layer["lut"] < LARGE or error is None:
            continue
        found.append(abs(error))
        if abs(error) > MISS:
            print(f"    missed: {name} {layer['name']}: {layer[kind]} {kind}, estimated {error:+.0%}")
    return bool(wrong)


def _row(what: str, shares: list[float]) -> None:
    median, tail = (float(np.percentile(shares or [0.0], at)) for at in (50, 95))
    row(
        what,
        f"{median:.1%}, {tail:.1%}",
        f"{MEDIAN:.0%}, {TAIL:.0%}",
        reached=bool(shares) and median <= MEDIAN and tail <= TAIL,
    )


def _shares(errors: dict[str, float | None]) -> str:
    return ", ".join("unknown" if error is None else f"{error:+.1%} {kind}" for kind, error in errors.items())


def synthesised(network: Network, apart: bool = False) -> dict[str, Any]:
    """Return the report of a network's synthesis, with the shortest FIFOs; nothing is simulated.

    Args:
        network: To be built.
        apart: Whether each layer is synthesised alone, and the whole is their sum.
    """
    from brainsmith.build import build

    with tempfile.TemporaryDirectory(prefix="brainsmith-bench-") as made:
        blueprint = network.blueprint
        if blueprint is None:
            blueprint = Path(made) / "network.yaml"
            target = {"part": PART, "clock": "5 ns", "fps": FPS}
            blueprint.write_text(json.dumps({"hw_compiler": {"target": target}}))  # JSON is YAML
        out, steps = Path(made) / "out", FRONT + CIRCUIT + ([] if apart else ["rtl_synthesise"])
        done = build(
            network.model, blueprint, out, steps=steps, verify=False, report=False, strict=False,
            input_datatype=network.datatype,
        )  # fmt: skip
        if apart:
            return synthesised_apart(done.model, out, done.report["blueprint"]["target"]["part"])
        found: dict[str, Any] = done.report["synthesis"]
        return found
