"""Calibrate the models of what FINN's layers need of a part, against Yosys.

    python benchmarks/calibrate.py synthesise [KERNEL...] [--points 100] [--part PART]      # what is missing of it
    python benchmarks/calibrate.py fit      # coefficients from the even points, and their error on the odd ones
    python benchmarks/calibrate.py accept [KERNEL...] [--points 12] [--from 1000] [--record FILE]   # the error on others

The points are drawn by their numbers (`calibration_points.py`), so the same ones each time. What was synthesised stands in
`benchmarks/calibration/`, a line for each (`accepted.jsonl` has those of `accept`), so an interrupted run goes on; the
coefficients go to `coefficients.json` of `brainsmith/rtl/resource_models`, with the version of Yosys and their error.
Sizes whose coefficient is 0 are left out.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from calibration_points import POINTS, point
from measure import row
from scipy.optimize import nnls  # type: ignore[import-untyped]

from brainsmith.plugin.adapters.finn_runtime import prepare_finn
from brainsmith.plugin.info import FINN_RTL
from brainsmith.rtl.resource_models.drift import fixed_layers
from brainsmith.rtl.resource_models.finn_cores import CORES
from brainsmith.rtl.resource_models.finn_parameters import parameters_of
from brainsmith.rtl.resource_models.layer_needs import layer_needs
from brainsmith.rtl.resource_models.resource_model import FILE, Needs, calibrated_as, weighed
from brainsmith.rtl.synthesis.fpga_families import family_of
from brainsmith.rtl.synthesis.yosys import find_yosys

PART = "xczu7ev-ffvc1156-2-e"
FOLDER = Path(__file__).parent / "calibration"
VERSAL = "xcvc1902-vsva2197-2MP-e-S"
ZYNQ = "xc7z020clg400-1"
MULTIPLIED = (
    "ElementwiseInt_rtl", "EmbeddedMVAU_rtl", "EmbeddedMVAU_rtl unfolded", "EmbeddedVVAU_rtl", "LayerNormRTL", "MatMulRTL",
    "SoftmaxRTL",
)  # fmt: skip
"""Kernels whose multiplications Yosys maps to DSP slices: a DSP48E1 and a DSP48E2 should need the same beside them."""

PARTS = {"VVAU_rtl": (VERSAL,), "MVAU_rtl": (PART, VERSAL)} | dict.fromkeys(MULTIPLIED, (PART, ZYNQ))
"""The parts that kernels are accepted on; `PART` for all others."""

RECORD = FOLDER / "accepted.jsonl"
"""What was synthesised to accept by: no coefficient is fitted to it."""

KINDS, EXACT = ("lut", "ff"), ("bram18", "uram", "dsp")
LARGE = 100
"""Layers of so many LUTs, or flip-flops, and more count for the error."""

FEWEST = 20
"""Points of a kernel that are fitted."""

MISS = 0.25
"""An estimate that is farther from what Yosys found is listed; a model with such a 95th percentile is not kept."""

WIRES = ("Reshape_rtl",)
"""Kernels without logic: there is nothing to fit."""

LEAST = 30
"""Errors are measured in shares of a figure, but at least of this one: small layers are not what matters."""


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("what", choices=("synthesise", "fit", "accept"))
    parser.add_argument("kernels", nargs="*", help=f"of {', '.join(POINTS)}; those with a model by default")
    parser.add_argument("--points", type=int, default=100, help="how many of each")
    parser.add_argument(
        "--from", type=int, default=1000, dest="first", help="the first point that is accepted by"
    )
    parser.add_argument("--record", type=Path, default=RECORD, help="of what was synthesised to accept by")
    parser.add_argument("--part", help=f"{PART} by default; to accept on, those of `PARTS`")
    options = parser.parse_args()
    unknown = sorted(set(options.kernels) - set(POINTS))
    if unknown:
        sys.exit(f"no kernel is named {unknown[0]!r}; there are {', '.join(POINTS)}")
    prepare_finn()
    if options.what == "fit":
        fit()
        return
    if options.what == "accept":
        numbers = range(options.first, options.first + options.points)
        accept(options.kernels or list(POINTS), numbers, options.record, options.part)
        return
    kernels = options.kernels or [name for name in POINTS if name.split()[0] in CORES]
    for kernel in kernels:
        synthesise(kernel, options.points, options.part or PART)


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
        _append(FOLDER / f"{kernel}.jsonl", row)
        print(kernel, number, row["used"], flush=True)


def _append(file: Path, row: dict[str, Any]) -> None:
    with file.open("a", encoding="utf-8") as lines:
        lines.write(json.dumps(row, separators=(",", ":")) + "\n")


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
        if max(error[kind]["95 %"] for kind in KINDS) > MISS:
            print(f"  {name} is left without a model: it misses by more than {MISS:.0%} too often")
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


def accept(kernels: Sequence[str], points: Sequence[int], record: Path, only: str | None = None) -> None:
    """Synthesise points that no coefficient was fitted to, compare them with their estimates, and list every miss.

    Args:
        kernels: Of `POINTS`.
        points: Their numbers.
        record: A file with a line for each point: those that are there are not synthesised again.
        only: A part that all of them are accepted on.
    """
    shares: dict[str, list[float]] = {kind: [] for kind in KINDS}
    inexact = 0
    done = _recorded(record)
    for kernel, part, number in product(kernels, [only] if only else (PART, ZYNQ, VERSAL), points):
        if not only and part not in PARTS.get(kernel, (PART,)):
            continue
        if (kernel, part, number) not in done:
            done[kernel, part, number] = one_row(kernel, number, part)
            _append(record, {"kernel": kernel} | done[kernel, part, number])
        inexact += _compare(done[kernel, part, number]["used"], kernel, number, part, shares)
    for kind, found in shares.items():
        median, tail = np.percentile(found or [1.0], (50, 95))
        row(
            f"{kind} of {len(found)} layers of {LARGE} LUT and more, median and 95th percentile",
            f"{median:.1%}, {tail:.1%}",
            "10 %, 25 %",
            reached=bool(median <= 0.1 and tail <= MISS),
        )
    row("layers whose block RAM, UltraRAM, DSP are not exact", str(inexact), "0", reached=not inexact)


def _recorded(record: Path) -> dict[tuple[str, str, int], dict[str, Any]]:
    """Return the points of a record by kernel, part and number."""
    lines = record.read_text("utf-8").splitlines() if record.exists() else []
    rows = [json.loads(line) for line in lines]
    return {(row["kernel"], row["part"], row["point"]): row for row in rows}


def _compare(
    used: dict[str, int], kernel: str, number: int, part: str, shares: dict[str, list[float]]
) -> bool:
    """Add a point's errors, and print what is missed; tell whether its memories and slices are not exact."""
    told = told_of(kernel, number, part)
    what = f"{kernel} {number}" + {VERSAL: " on Versal", ZYNQ: " on a Zynq"}.get(part, "")
    for kind in KINDS:
        if used["lut"] < LARGE or not used[kind]:
            continue
        share = (int(getattr(told, kind)) - used[kind]) / used[kind]
        shares[kind].append(abs(share))
        if abs(share) > MISS:
            print(f"  missed: {what}, {kind} {used[kind]}, estimated {share:+.0%}", flush=True)
    wrong = any(getattr(told, kind) != used[kind] for kind in EXACT)
    if wrong:
        print(f"  not exact: {what}, {used}, estimated {told}", flush=True)
    return wrong


def told_of(kernel: str, number: int, part: str) -> Needs:
    """Return the estimate of a point."""
    from qonnx.custom_op.registry import getCustomOp

    from brainsmith.rtl.cores.trial import make_model

    model = make_model([point(kernel, number)])
    told = layer_needs(getCustomOp(model.graph.node[0]), part, model)
    if told is None:
        raise ValueError(f"there is no model of {kernel} as point {number} has it")
    return told


def _rows_by_model() -> dict[str, list[dict[str, Any]]]:
    """Return what was synthesised by the name under which its coefficients are kept."""
    found: dict[str, list[dict[str, Any]]] = {}
    for drawn in POINTS:
        kernel = drawn.split()[0]
        for each in rows_of(drawn) if kernel in CORES else ():
            name = calibrated_as(kernel, family_of(each["part"]).name)
            found.setdefault(name, []).append(each | {"drawn": drawn})
    return found


def _makings(row: dict[str, Any]) -> Any:
    kernel, held = row["drawn"].split()[0], point(row["drawn"], row["point"]).constants
    parameters = parameters_of(
        kernel, _attribute(kernel, row["attributes"]), held=held[0][0] if held else None
    )
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
    for kind in EXACT:
        found[f"{kind} not exact"] = sum(
            int(getattr(told, kind)) != row["used"][kind] for told, row in zip(foretold, rows, strict=True)
        )
    return found


if __name__ == "__main__":
    main()
