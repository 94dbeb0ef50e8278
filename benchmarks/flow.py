"""Compare the latency and the FIFO bits that `estimate` tells with those of builds that were simulated.

    python benchmarks/hunt.py --circuits --seed 1000 --count 400 --keep out/hunt    # builds to compare
    python benchmarks/flow.py out/hunt/*/out out/digits_cnn

Each folder is the output of a build with `output: simulated`. A folder's row has what is estimated, what was simulated, and
the difference; the last lines have the median, the 95th percentile and the greatest difference. Where FIFOs were not
searched, their bits are compared with those of the gauges. The exit code is 1 if a latency is off by more than 5 %.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

LATENCY, FIFOS = 0.05, 0.25
"""By how much either may be off."""


def main() -> int:
    """Print the rows; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("builds", type=Path, nargs="+", help="output folders")
    found = [row for row in map(compared, parser.parse_args().builds) if row]
    if not found:
        print("none of these builds was simulated as a whole")
        return 1
    latency, fifos = (np.abs(np.array([row[at] for row in found])) for at in (0, 1))
    for name, off, limit in (("latency", latency, LATENCY), ("FIFO bits", fifos, FIFOS)):
        median, high = np.percentile(off, 50), np.percentile(off, 95)
        beyond = int((off > limit).sum())
        print(
            f"{name}: {len(found)} circuits, off by {median:.1%} (median), {high:.1%} (95th percentile), "
            f"{off.max():.1%} (most); {beyond} beyond {limit:.0%}"
        )
    return int(bool((latency > LATENCY).any()))


def compared(folder: Path) -> tuple[float, float] | None:
    """Print a build's row; return by which shares latency and FIFO bits are off. None if it was not simulated."""
    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.build.config import StepConfig
    from brainsmith.steps.beat_flow import model_flow

    report = folder / "report.json"
    content: dict[str, Any] = json.loads(report.read_text()) if report.is_file() else {}
    circuit = content.get("rtl") or {}
    if not circuit.get("latency_cycles") or not circuit.get("sizing"):
        return None
    model = ModelWrapper(str(next((folder / "checkpoints").glob("*_rtl_stitch.onnx"))))
    target = content["blueprint"]["target"]
    begin = time.perf_counter()
    clock = float(target["clock_ns"] or StepConfig.synth_clk_period_ns)
    foretold = model_flow(model, target["part"], clock, circuit["interval_estimate"])
    seconds = time.perf_counter() - begin
    bits = sum(fifo["total_bits"] for fifo in circuit["fifos"])
    searched = circuit["sizing"]["minimal"] or bits < circuit["sizing"]["gauge_bits"]
    told = foretold.flow.fifo_bits if searched else foretold.flow.gauge_bits
    off = foretold.flow.latency / circuit["latency_cycles"] - 1, told / bits - 1
    flag = "".join(
        f"  {name}"
        for name, one, limit in zip(("LATENCY", "FIFOS"), off, (LATENCY, FIFOS), strict=True)
        if abs(one) > limit
    )
    print(
        f"{folder}: latency {foretold.flow.latency:,} of {circuit['latency_cycles']:,} ({off[0]:+.1%}), FIFO bits {told:,} "
        f"of {bits:,} ({off[1]:+.1%}), {1000 * seconds:.0f} ms{flag}"
    )
    return off


if __name__ == "__main__":
    sys.exit(main())
