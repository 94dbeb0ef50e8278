"""The digits networks as stitched designs, simulated in this process: what `rtl.py` prints of them."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from measure import ROOT, row

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from brainsmith.rtl.simulation.simulation_plan import SimulationPlan
    from brainsmith.rtl.simulation.simulator import Simulator
    from brainsmith.rtl.stitching.design import Design
    from brainsmith.rtl.verification.design_runs import DesignRun

EXAMPLES = ROOT / "examples" / "digits"
PIXELS = {"mlp": "mlp", "cnn": "cnn", "residual": "cnn"}
PART = "xczu7ev-ffvc1156-2-e"
SEEDS = (1, 2, 3)
RUNS = 3
SIZED_WITH = 6
KERNEL_BEATS = 200_000


@dataclass
class Network:
    """A stitched network.

    Attributes:
        name: `mlp`, `cnn` or `residual`.
        design: With FIFOs.
        pixels: All test images: (frames, *shape of one).
        golden: What the hardware model computes of them.
    """

    name: str
    design: Design
    pixels: np.ndarray[Any, Any]
    golden: np.ndarray[Any, Any]

    def simulate(self, simulator: Simulator, **arguments: Any) -> DesignRun:
        """Simulate all images."""
        from brainsmith.rtl.verification.design_runs import run_design

        return run_design(
            simulator, self.design, {self.design.inputs[0].layout.tensor: self.pixels}, **arguments
        )

    def count_wrong(self, outputs: Mapping[str, np.ndarray[Any, Any]]) -> int:
        """Count the images whose result is not the golden one."""
        found = outputs[self.design.outputs[0].layout.tensor]
        return int((found != self.golden).reshape(len(found), -1).any(axis=1).sum())


def make_network(name: str, folder: Path) -> Network:
    """Build a network to estimates, stitch it, and size its FIFOs."""
    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.build import build
    from brainsmith.execution.execute import Executor
    from brainsmith.rtl.sizing.fifos import size_fifos
    from brainsmith.rtl.stitching.codegen import generate_layers
    from brainsmith.rtl.stitching.stitch import stitch

    blueprint, output = ROOT / "blueprints" / f"digits_{name}_rtl.yaml", folder / "out"
    build(EXAMPLES / f"{name}.onnx", blueprint, output, produce="estimates", verify=False, report=False)
    model = ModelWrapper(str(output / "model.onnx"))
    design = stitch(generate_layers(model, folder / "code", PART))
    stream, result = design.inputs[0].layout, design.outputs[0].layout.tensor
    pixels = np.load(EXAMPLES / f"digits_{PIXELS[name]}_x.npy")
    pixels = pixels.reshape(len(pixels), *stream.shape).astype(np.int64)
    golden = Executor(model).run({stream.tensor: pixels.astype(np.float32)})[result]
    sizing = size_fifos(design, {stream.tensor: pixels[:SIZED_WITH]})
    return Network(name, sizing.design, pixels, golden)


def print_network(network: Network, cache: Path) -> None:
    """Build a network's simulation in an empty cache, simulate all images without and with stalls, print figures."""
    os.environ["XDG_CACHE_HOME"] = str(cache)
    from brainsmith.rtl.stitching.top_module import plan_design
    from brainsmith.rtl.verification.chances import random_stalls

    design = network.design
    print_kernel(design)  # first, so that the simulator's runtime library is there
    simulator, first = built(plan_design(design))
    _, again = built(plan_design(design))
    print(
        f"    its simulation's first build {first:.2f} s, from the store {again:.3f} s: {first / again:.0f} x"
    )
    print_speed(network, simulator)
    limit = 20 * len(network.pixels) * design.interval
    wrong = [
        network.count_wrong(
            network.simulate(simulator, stalls=random_stalls(design, seed), limit=limit).outputs
        )
        for seed in SEEDS
    ]
    what = f"wrong images with stalls at both ends, {len(SEEDS)} seeds"
    row(what, f"{sum(wrong)} of {len(SEEDS) * len(network.pixels)}", "0", reached=not sum(wrong))


def built(plan: SimulationPlan) -> tuple[Simulator, float]:
    """Build a simulation or take it from the store, and return how long that took."""
    from brainsmith.rtl.simulation.simulator_build import build_simulator

    begin = time.perf_counter()
    simulator = build_simulator(plan)
    return simulator, time.perf_counter() - begin


def print_speed(network: Network, simulator: Simulator) -> None:
    """Simulate all images several times without stalls, and print the fastest run's figures."""
    seconds, speed = float("inf"), 0.0
    for _ in range(RUNS):
        begin = time.perf_counter()
        run = network.simulate(simulator)
        seconds = min(seconds, time.perf_counter() - begin)
        speed = max(speed, run.result.cycles_per_second)
    what, found = f"simulation of the whole design, fastest of {RUNS}", f"{speed / 1e6:.2f} M cycles/s"
    if network.name == "mlp":
        row(what, found, "1 M cycles/s", reached=speed >= 1e6)
    else:
        print(f"    {what}: {found}")
    what = f"all {len(network.pixels)} test images, {run.result.cycles:,} cycles"
    row(what, f"{seconds:.2f} s", "10 s", reached=seconds <= 10)
    print_interval(run.interval, network.design.interval)
    wrong = network.count_wrong(run.outputs)
    row("wrong images without stalls", f"{wrong} of {len(network.pixels)}", "0", reached=not wrong)
    print(f"    latency {run.latency:,} cycles, FINN's estimate {network.design.latency:,}")


def print_interval(found: float | None, estimate: float) -> None:
    """Print the initiation interval beside FINN's estimate; that of one frame is not known."""
    if found is None:
        return
    ratio = found / estimate
    what = f"initiation interval ({found:.0f}) over FINN's estimate"
    row(what, f"{ratio:.4f} x", "1.00 x", reached=abs(ratio - 1) <= 0.01)


def print_kernel(design: Design) -> None:
    """Simulate the slowest layer that has one stream in and one out, alone with random beats; print its speed."""
    from brainsmith.rtl.simulation.simulation_plan import SimulationPlan

    fed = [link.target.layer for link in design.links]
    alone = [layer for layer in design.layers if layer.cycles and fed.count(layer.name) == 1]
    layer = max(alone, key=lambda one: one.cycles)
    packages = sorted(design.sources, key=lambda source: "endpackage" not in source.text)
    simulator, _ = built(SimulationPlan(layer.module, tuple(packages), design.memories))
    before = next(link for link in design.links if link.target.layer == layer.name)
    after = next(link for link in design.links if link.source.layer == layer.name)
    beats_in, beats_out = (link.layout.beats if link.layout else 0 for link in (before, after))
    frames = max(1, KERNEL_BEATS // max(beats_in, beats_out))
    idle = [stream.name for stream in simulator.interface.streams if stream.name not in ("in0_V", "out0_V")]
    words = np.random.default_rng(1).integers(0, 256, (frames * beats_in, before.bits // 8), np.uint8)
    result = simulator.run({"in0_V": words}, {"out0_V": frames * beats_out}, idle=idle, surplus=["out0_V"])
    print(f"    one layer alone ({layer.kernel}): {result.cycles_per_second / 1e6:.2f} M cycles/s")
