"""How fast foldings are chosen, and what the circuits cost beside FINN's folding.

Times are of this process, so that what else runs on the machine does not count. The cost is the sum of the shares of the
device's LUTs, block RAMs and DSP slices, of circuits with the shortest FIFOs.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

from apart import synthesised_apart
from measure import ROOT, row

FRONT_END = ["cleanup", "integer", "hardware_inference", "specialize"]
CIRCUIT = ["estimate", "rtl_codegen", "rtl_stitch"]
OPTIMAL = {
    "cnn": ("pynq-z2", 1.0),
    "cnv_2w2a_full": ("zcu104", 5.0),
    "resnet18_full": ("u250", 10.0),
    "resnet20_full": ("zcu104", 10.0),
}
"""The device that a network is fitted to, and the seconds that proving its foldings the best ones may take."""

FRONT_SECONDS = 10.0
COST = {
    "cnn": ("pynq-z2", 20_000),
    "cnv_2w2a": ("zcu104", 3000),
    "resnet8": ("zcu104", 1000),
    "resnet20_full": ("zcu104", 1000),
}
"""The device and the rate at which circuits are compared."""

SHARE = 0.9
WEIGHTS = 36
CLOCK_NS = 5.0


def optimal(options: argparse.Namespace) -> None:
    """Fit networks to a device as fast as can be, and print how long reading the options and proving the choice took."""
    from brainsmith.rtl.devices.device import require_device
    from brainsmith.rtl.fitting.options import budget_of
    from brainsmith.rtl.fitting.solve import Chosen, choose

    for name in _named(options, OPTIMAL):
        board, most = OPTIMAL[name]
        network, part, reading = _network(options.folder, name, board)
        begin = time.process_time()
        found = choose(network, budget_of(require_device(part), 0.8))
        seconds = time.process_time() - begin
        proven = isinstance(found, Chosen) and found.proven
        what = (
            f"{name}, {len(network.layers)} layers, on {board}: proven the best"
            if proven
            else f"{name}: NOT PROVEN"
        )
        row(what, f"{seconds:.2f} s", f"{most:g} s", reached=proven and seconds <= most)
        print(
            f"    reading {sum(len(layer.cycles) for layer in network.layers):,} foldings took {reading:.2f} s"
        )


def front(options: argparse.Namespace) -> None:
    """Print how long the front of a CNV takes, the options included."""
    from brainsmith.rtl.devices.device import require_device
    from brainsmith.rtl.fitting.cheapest import front_of
    from brainsmith.rtl.fitting.options import budget_of

    for name in _named(options, {"cnv_2w2a_full": None}):
        network, part, reading = _network(options.folder, name, "zcu104")
        begin = time.process_time()
        points = front_of(network, budget_of(require_device(part)))
        seconds = time.process_time() - begin + reading
        what = f"{name}: the front, {len(points)} circuits of {len(network.intervals)} intervals"
        row(what, f"{seconds:.2f} s", f"{FRONT_SECONDS:g} s", reached=seconds <= FRONT_SECONDS)


def cost(options: argparse.Namespace) -> None:
    """Synthesise circuits of the same rate, folded by FINN's SetFolding and together, and print what they cost."""
    how = ", layers alone" if options.apart else ""
    for name in _named(options, COST):
        board, fps = COST[name]
        finns = _synthesised(options, name, board, {"fps": fps})
        rate = int(1e9 / (CLOCK_NS * finns["interval"]))
        ours = _synthesised(
            options, name, board, {"fit": {"use": 1, "goal": "resources", "at_least": {"fps": rate}}}
        )
        share = ours["cost"] / finns["cost"]
        what = f"{name} on {board}, {ours['interval']:,} cycles for {finns['interval']:,}: cost of FINN's folding"
        row(
            what + how,
            f"{share:.2f} x",
            f"{SHARE} x",
            reached=share <= SHARE and ours["interval"] <= finns["interval"],
        )
        for whose, found in (("FINN's", finns), ("fitted", ours)):
            print(f"    {whose}: {found['used']}; estimated {found['estimated']}")


def _synthesised(
    options: argparse.Namespace, name: str, board: str, target: dict[str, Any]
) -> dict[str, Any]:
    """Return what a circuit takes: interval, cost, and the figures, synthesised and estimated."""
    from brainsmith.build import build
    from brainsmith.rtl.devices.device import part_of

    with tempfile.TemporaryDirectory(prefix="brainsmith-bench-") as made:
        blueprint, out = Path(made) / "fit.yaml", Path(made) / "out"
        body = {"target": {"part": board, "clock": f"{CLOCK_NS} ns", **target}}
        blueprint.write_text(json.dumps({"hw_compiler": body}))  # JSON is YAML
        steps = [*FRONT_END, "fold", *CIRCUIT, *([] if options.apart else ["rtl_synthesise"])]
        done = build(
            _file(options.folder, name), blueprint, out, steps=steps, verify=False, report=False, strict=False,
            input_datatype=_datatype(name),
        )  # fmt: skip
        report = done.report
        found = synthesised_apart(done.model, out, part_of(board)) if options.apart else report["synthesis"]
    held, keys = report["device"]["resources"], ("lut", "bram18", "dsp")
    return {
        "interval": report["estimate"]["interval_cycles"],
        "cost": sum(found[key] / held[key]["available"] for key in keys),
        "used": {key: found[key] for key in keys},
        "estimated": {key: report["estimate"][key] for key in keys},
    }


def _network(folder: Path | None, name: str, board: str) -> tuple[Any, str, float]:
    """Return the options of a network's layers, the part, and how long reading them took."""
    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.build import build
    from brainsmith.build.config import StepConfig
    from brainsmith.rtl.devices.device import part_of
    from brainsmith.steps.bit_widths import minimise_bit_widths
    from brainsmith.steps.folding_options import options_of

    part = part_of(board)
    with tempfile.TemporaryDirectory(prefix="brainsmith-bench-") as made:
        done = build(
            _file(folder, name), None, Path(made) / "out", steps=list(FRONT_END), verify=False, report=False,
            part=part, input_datatype=_datatype(name),
        )  # fmt: skip
        cfg = StepConfig(made, CLOCK_NS, part)
        model = minimise_bit_widths(ModelWrapper(str(done.model)), cfg)
        begin = time.process_time()
        network = options_of(model, cfg, WEIGHTS).network
        return network, part, time.process_time() - begin


def _file(folder: Path | None, name: str) -> Path:
    return ROOT / "examples" / "digits" / "cnn.onnx" if name == "cnn" else (folder or Path()) / f"{name}.onnx"


def _datatype(name: str) -> str | None:
    return None if name == "cnn" else "UINT8"


def _named(options: argparse.Namespace, rows: dict[str, Any]) -> list[str]:
    """Return the networks of a row that are named and there; what is not there is said."""
    found = []
    for name in rows:
        if options.names and name not in options.names:
            continue
        if _file(options.folder, name).is_file():
            found.append(name)
        else:
            print(f"  {name}: there is no {_file(options.folder, name)}")
    return found
