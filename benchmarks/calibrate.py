"""Calibrate the models of what FINN's layers need of a part, against Yosys.

    python benchmarks/calibrate.py synthesise [KERNEL...] [--points 100] [--part PART]      # what is missing of it
    python benchmarks/calibrate.py fit      # coefficients from the even points, and their error on the odd ones

The points are drawn by their numbers (`calibration_points.py`), so the same ones each time. What was synthesised stands in
`benchmarks/calibration/`, a line for each, so an interrupted run goes on; the coefficients go to `coefficients.json` of
`brainsmith/rtl/resource_models`, with the version of Yosys and their error. A size whose coefficient is 0 is left out.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from calibration_points import POINTS, point
from scipy.optimize import nnls  # type: ignore[import-untyped]

from brainsmith.plugin.adapters.finn_runtime import prepare_finn
from brainsmith.plugin.info import FINN_RTL
from brainsmith.rtl.resource_models.drift import fixed_layers
from brainsmith.rtl.resource_models.finn_cores import CORES
from brainsmith.rtl.resource_models.finn_parameters import parameters_of
from brainsmith.rtl.resource_models.resource_model import FILE, calibrated_as, weighed
from brainsmith.rtl.synthesis.fpga_families import family_of
from brainsmith.rtl.synthesis.yosys import find_yosys

PART = "xczu7ev-ffvc1156-2-e"
FOLDER = Path(__file__).parent / "calibration"
KINDS = ("lut", "ff")
LARGE = 100
"""Layers of so many LUTs, or flip-flops, and more count for the error."""

FEWEST = 20
"""Points of a kernel that are fitted."""

WORST = 0.3
"""A model whose error's 95th percentile is above it is not kept: none is better."""

WIRES = ("Reshape_rtl",)
"""Kernels without logic: there is nothing to fit."""

LEAST = 30
"""Errors are measured in shares of a figure, but at least of this one: small layers are not what matters."""


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("what", choices=("synthesise", "fit"))
    parser.add_argument("kernels", nargs="*", help=f"of {', '.join(POINTS)}; those with a model by default")
    parser.add_argument("--points", type=int, default=100, help="how many of each")
    parser.add_argument("--part", default=PART)
    options = parser.parse_args()
    unknown = sorted(set(options.kernels) - set(POINTS))
    if unknown:
        sys.exit(f"no kernel is named {unknown[0]!r}; there are {', '.join(POINTS)}")
    prepare_finn()
    kernels = options.kernels or list(CORES)
    if options.what == "fit":
        fit()
        return
    for kernel in kernels:
        synthesise(kernel, options.points, options.part)


def rows_of(kernel: str, part: str = "") -> list[dict[str, Any]]:
    """Return what was synthesised of a kernel, for one part or for all."""
    file = FOLDER / f"{kernel}.jsonl"
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()] if file.exists() else []
    return [row for row in rows if part in {"", row["part"]}]


def synthesise(kernel: str, points: int, part: str) -> None:
    """Synthesise the points of a kernel that are missing, and add a line for each."""
    FOLDER.mkdir(exist_ok=True)
    done = {row["point"] for row in rows_of(kernel, part)}
    for number in sorted(set(range(points)) - done):
        row = one_row(kernel, number, part)
        with (FOLDER / f"{kernel}.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(row, separators=(",", ":")) + "\n")
        print(kernel, number, row["used"], flush=True)


def one_row(kernel: str, number: int, part: str) -> dict[str, Any]:
    """Return the parameters of a point, and what Yosys made of it."""
    from brainsmith.rtl.cores.trial import make_design
    from brainsmith.rtl.synthesis.synthesise import synthesise_layers

    case = point(kernel, number)
    with tempfile.TemporaryDirectory(prefix="brainsmith-calibrate-") as folder:
        _, design = make_design([case], Path(folder), part)
        (layer,) = synthesise_layers(design, part)
    return {
        "point": number,
        "part": part,
        "tool": find_yosys(),
        "attributes": {name: list(value) if isinstance(value, tuple) else value for name, value in case.attributes.items()},
        "used": asdict(layer.used),
    }  # fmt: skip


def fit() -> None:
    """Write the coefficients of all kernels that were synthesised, and print their errors."""
    layers: dict[str, Any] = {}
    tools: set[str] = set()
    for name, rows in sorted(_rows_by_model().items()):
        if len(rows) < FEWEST:
            continue
        tools |= {row["tool"] for row in rows}
        makings = [_makings(row) for row in rows]
        even = np.array([row["point"] % 2 == 0 for row in rows])
        by: dict[str, Any] = {}
        for kind in KINDS:
            sizes = [getattr(one, kind) for one in makings]
            memories = np.array([float(getattr(one.memory, kind)) for one in makings])
            whole = np.array([float(row["used"][kind]) for row in rows])
            by[kind] = _coefficients(sizes, whole - memories, whole, even)
        error = _errors(rows, makings, by, ~even)
        print(name, len(rows), json.dumps(error))
        if max(error[kind]["95 %"] for kind in KINDS) > WORST:
            print(f"  {name} is left without a model: it misses by more than {WORST:.0%} too often")
        else:
            layers[name] = by | {"error": error}
    layers |= {kernel: {kind: {} for kind in KINDS} for kernel in WIRES}
    if len(tools) > 1:
        sys.exit(f"the points were synthesised by several tools: {', '.join(sorted(tools))}")
    tool = tools.pop()
    if tool != find_yosys():
        sys.exit(
            f"the points were synthesised by {tool}, and {find_yosys()} is installed: synthesise them again"
        )
    kept = {"tool": tool, "layers": layers, "fixed layers": fixed_layers()}
    FILE.write_text(json.dumps(kept, indent=1) + "\n", "utf-8")


def _rows_by_model() -> dict[str, list[dict[str, Any]]]:
    """Return what was synthesised by the name under which its coefficients are kept."""
    found: dict[str, list[dict[str, Any]]] = {}
    for drawn in POINTS:
        kernel = drawn.split()[0]
        for row in rows_of(drawn) if kernel in CORES else ():
            name = calibrated_as(kernel, family_of(row["part"]).name)
            found.setdefault(name, []).append(row | {"drawn": drawn})
    return found


def _makings(row: dict[str, Any]) -> Any:
    kernel, held = row["drawn"].split()[0], point(row["drawn"], row["point"]).constants
    parameters = parameters_of(kernel, _attribute(kernel, row["attributes"]), held[0][0] if held else None)
    if parameters is None:
        raise ValueError(f"there is no model of {kernel} as point {row['point']} has it")
    return CORES[kernel](parameters, family_of(row["part"]).name)


def _attribute(kernel: str, attributes: dict[str, Any]) -> Any:
    """Return what gives the attributes of a node that has these, with its defaults for all others."""
    from onnx import helper
    from qonnx.custom_op.registry import getCustomOp

    node = helper.make_node(kernel, ["in"], ["out"], name=kernel, domain=FINN_RTL, **attributes)
    return getCustomOp(node).get_nodeattr


def _coefficients(sizes: Any, rest: Any, whole: Any, chosen: Any) -> dict[str, float]:
    """Return coefficients of least relative error, none below 0: the sum of magnitudes, by weighted least squares."""
    names = list(dict.fromkeys(name for one in sizes for name in one))
    matrix = np.array([[float(one.get(name, 0)) for name in names] for one in sizes])[chosen]
    rest, weights = rest[chosen], 1 / np.maximum(whole[chosen], LEAST)
    found = np.ones(len(names))
    for turn in range(12):
        error = np.abs(matrix @ found - rest) * weights if turn else np.ones(len(rest))
        each = weights / np.sqrt(np.maximum(error, 0.01))
        found, _ = nnls(matrix * each[:, None], rest * each)
    return {name: round(float(value), 4) for name, value in zip(names, found, strict=True) if value > 0}


def _errors(rows: Any, makings: Any, by: dict[str, Any], chosen: Any) -> dict[str, Any]:
    """Return the relative errors of points that were not used, and how many block RAMs and DSP slices are not exact."""
    found: dict[str, Any] = {"points": int(sum(chosen))}
    foretold = [weighed(one, by) for one in makings]
    for kind in KINDS:
        pairs = [
            (float(getattr(told, kind)), row["used"][kind])
            for told, row, one in zip(foretold, rows, chosen, strict=True)
            if one and row["used"][kind] >= LARGE
        ]
        shares = [abs(told - used) / used for told, used in pairs] or [0.0]
        found[kind] = {
            "median": round(float(np.median(shares)), 4),
            "95 %": round(float(np.percentile(shares, 95)), 4),
            "greatest": round(float(max(shares)), 4),
        }
    for kind in ("bram18", "dsp", "uram"):
        found[f"{kind} not exact"] = sum(
            int(getattr(told, kind)) != row["used"][kind] for told, row in zip(foretold, rows, strict=True)
        )
    return found


if __name__ == "__main__":
    main()
