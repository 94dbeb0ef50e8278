"""Print what circuits cost without a vendor tool: simulation, its first build, whole builds, synthesis.

    python benchmarks/rtl.py [BLUEPRINT...]

The blueprints are those of whole builds; by default the digits networks' that end with a circuit. One that is not there
is skipped, and said so. Everything starts with empty caches of its own.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from measure import ROOT, Figures, compile_package, empty_cache, environment, row, run_once

if TYPE_CHECKING:
    from brainsmith.rtl.simulation.plan import SimulationPlan
    from brainsmith.rtl.simulation.simulator import Simulator
    from brainsmith.rtl.stitching.design import Design

NETWORKS = ("mlp", "cnn")
EXAMPLES = ROOT / "examples" / "digits"
BLUEPRINTS = tuple(ROOT / "blueprints" / f"digits_{name}_rtl.yaml" for name in NETWORKS)
PART = "xczu7ev-ffvc1156-2-e"
SEEDS = (1, 2, 3)
SIZED_WITH = 6
KERNEL_BEATS = 200_000
LIMITS = {"mlp": 60, "cnn": 120}
"""Seconds for the first build to `simulated`."""
COCOTB_FRAMES = 20


@dataclass
class Network:
    """A stitched network.

    Attributes:
        design: With FIFOs.
        pixels: All test images: (frames, *shape of one).
        golden: What the hardware model computes of them.
    """

    design: Design
    pixels: np.ndarray[Any, Any]
    golden: np.ndarray[Any, Any]

    @property
    def feed(self) -> dict[str, np.ndarray[Any, Any]]:
        """The images by the design's tensor."""
        return {self.design.inputs[0].layout.tensor: self.pixels}


def main() -> None:
    """Measure and print everything."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("blueprints", nargs="*", type=Path, default=BLUEPRINTS)
    blueprints = parser.parse_args().blueprints
    compile_package()
    with empty_cache() as folder:
        os.environ.update({name: str(folder / name) for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME")})
        for name in NETWORKS:
            print(f"digits {name}, stitched, simulated in this process:")
            print_network(make_network(name, folder / name), folder / name)
    for blueprint in blueprints:
        if blueprint.is_file():
            print_builds(blueprint)
        else:
            print(f"{blueprint.name}: skipped, there is no such blueprint")


def make_network(name: str, folder: Path) -> Network:
    """Build a network to estimates, stitch it, and size its FIFOs."""
    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.build import build
    from brainsmith.execution.execute import Executor
    from brainsmith.rtl.sizing.fifos import size_fifos
    from brainsmith.rtl.stitching.codegen import generate_layers
    from brainsmith.rtl.stitching.stitch import stitch

    blueprint = ROOT / "blueprints" / f"digits_{name}.yaml"
    build(EXAMPLES / f"{name}.onnx", blueprint, output=folder / "out", verify=False, report=False)
    model = ModelWrapper(str(folder / "out" / "model.onnx"))
    design = stitch(generate_layers(model, folder / "code", PART))
    stream, result = design.inputs[0].layout, design.outputs[0].layout.tensor
    pixels = np.load(EXAMPLES / f"digits_{name}_x.npy")
    pixels = pixels.reshape(len(pixels), *stream.shape).astype(np.int64)
    golden = Executor(model).run({stream.tensor: pixels.astype(np.float32)})[result]
    sizing = size_fifos(design, {stream.tensor: pixels[:SIZED_WITH]}, cache=folder / "sizing")
    return Network(sizing.design, pixels, golden)


def built(plan: SimulationPlan, cache: Path) -> tuple[Simulator, float]:
    """Build a simulation or take it from the store, and return how long that took."""
    from brainsmith.rtl.simulation.build import build_simulator

    begin = time.perf_counter()
    simulator = build_simulator(plan, cache=cache)
    return simulator, time.perf_counter() - begin


def print_network(network: Network, folder: Path) -> None:
    """Simulate all images without and with stalls, and print figures."""
    from brainsmith.rtl.simulation.build import build_simulator
    from brainsmith.rtl.stitching.top_module import plan_design
    from brainsmith.rtl.verification.chances import random_stalls
    from brainsmith.rtl.verification.frames import run_design

    design, cache = network.design, folder / "simulations"
    build_simulator(kernel_plan(design)[0], cache=cache)
    simulator, first = built(plan_design(design), cache)
    _, again = built(plan_design(design), cache)
    begin = time.perf_counter()
    smooth = run_design(simulator, design, network.feed)
    seconds = time.perf_counter() - begin
    stalled = [
        run_design(
            simulator,
            design,
            network.feed,
            stalls=random_stalls(design, seed),
            limit=20 * smooth.result.cycles,
        )
        for seed in SEEDS
    ]
    wrong = [count_wrong(network, run.outputs) for run in (smooth, *stalled)]
    speed, ratio = smooth.result.cycles_per_second, smooth.interval / design.interval
    frames = len(network.pixels)
    row(
        "simulation of the whole design",
        f"{speed / 1e6:.2f} M cycles/s",
        "1 M cycles/s",
        reached=speed >= 1e6,
    )
    row(
        f"all {frames} test images, {smooth.result.cycles:,} cycles",
        f"{seconds:.2f} s",
        "10 s",
        reached=seconds <= 10,
    )
    row(
        "initiation interval over FINN's estimate", f"{ratio:.4f} x", "1.00 x", reached=abs(ratio - 1) <= 0.01
    )
    row("wrong images without stalls", f"{wrong[0]} of {frames}", "0", reached=not wrong[0])
    row(
        "wrong images with stalls at both ends",
        f"{sum(wrong[1:])} of {len(SEEDS) * frames}",
        "0",
        reached=not sum(wrong[1:]),
    )
    print(f"    latency {smooth.latency:,} cycles, estimated {design.latency:,}")
    print(
        f"    the simulation's first build {first:.2f} s, from the store {again:.3f} s ({first / again:.0f} times)"
    )
    print_kernel(design, cache)


def count_wrong(network: Network, outputs: dict[str, np.ndarray[Any, Any]]) -> int:
    """Count the images whose result is not the golden one."""
    found = outputs[network.design.outputs[0].layout.tensor]
    return int((found != network.golden).reshape(len(found), -1).any(axis=1).sum())


def kernel_plan(design: Design) -> tuple[SimulationPlan, str]:
    """Return the plan of the design's slowest layer that has one stream in and one out, and its kernel."""
    from brainsmith.rtl.simulation.plan import SimulationPlan

    fed = [link.target.layer for link in design.links]
    alone = [layer for layer in design.layers if layer.cycles and fed.count(layer.name) == 1]
    layer = max(alone, key=lambda one: one.cycles)
    packages = sorted(design.sources, key=lambda source: "endpackage" not in source.text)
    return SimulationPlan(layer.module, tuple(packages), design.memories), layer.kernel


def print_kernel(design: Design, cache: Path) -> None:
    """Simulate one layer alone with random beats, and print its speed."""
    plan, kernel = kernel_plan(design)
    simulator, _ = built(plan, cache)
    layer = next(one for one in design.layers if one.module == plan.top)
    before = next(link for link in design.links if link.target.layer == layer.name)
    after = next(link for link in design.links if link.source.layer == layer.name)
    assert before.layout is not None
    assert after.layout is not None
    frames = max(1, KERNEL_BEATS // max(before.layout.beats, after.layout.beats))
    idle = [stream.name for stream in simulator.interface.streams if stream.name not in ("in0_V", "out0_V")]
    lanes = (frames * before.layout.beats, before.bits // 8)
    words = np.random.default_rng(1).integers(0, 256, lanes, np.uint8)
    result = simulator.run(
        {"in0_V": words}, {"out0_V": frames * after.layout.beats}, idle=idle, surplus=["out0_V"]
    )
    print(f"    one layer alone ({kernel}): {result.cycles_per_second / 1e6:.2f} M cycles/s")


def print_builds(blueprint: Path) -> None:
    """Build with a blueprint in fresh processes, to `simulated` and then to the end, and print figures."""
    name = next((one for one in NETWORKS if f"_{one}" in blueprint.stem), "mlp")
    with empty_cache() as cache:
        env, output = environment(cache), cache / "out"
        command = [str(Path(sys.executable).with_name("brainsmith")), "build", str(EXAMPLES / f"{name}.onnx")]
        command += ["--blueprint", str(blueprint.resolve()), "--output", str(output), "--produce"]
        figures = {what: Figures() for what in ("first", "again", "synthesised")}
        for what, produce in (("first", "simulated"), ("again", "simulated"), ("synthesised", "synthesised")):
            run_once([*command, produce], env, figures[what], cwd=cache)
        first, again, whole = (figures[what].median_s for what in figures)
        print(f"brainsmith build {name}.onnx --blueprint {blueprint.name}, fresh processes:")
        limit = LIMITS[name]
        row("first build to simulated", f"{first:.1f} s", f"{limit} s", reached=first <= limit)
        row("unchanged again", f"{again:.2f} s", "5 s", reached=again <= 5)
        print(
            f"    from there to synthesised {whole:.1f} s; peak memory of the first {figures['first'].median_mb:.0f} MB"
        )
        print_report(output)
        print_cocotb(output / "accelerator", env)


def print_report(output: Path) -> None:
    """Print what a build's report says of its circuit."""
    found = json.loads((output / "report.json").read_text("utf-8"))["rtl"]
    ratio = found["interval_cycles"] / found["interval_estimate"]
    row(
        "initiation interval over FINN's estimate", f"{ratio:.4f} x", "1.00 x", reached=abs(ratio - 1) <= 0.01
    )
    for kind, frames, wrong in (
        ("without", "frames", "mismatches"),
        ("with", "stalled_frames", "stalled_mismatches"),
    ):
        row(
            f"wrong frames {kind} stalls",
            f"{found[wrong]} of {found[frames]}",
            "0",
            reached=found[wrong] == 0,
        )
    print(f"    {found['cycles_per_second'] / 1e6:.2f} M cycles/s, accuracy {found['accuracy']}")
    synthesis = json.loads((output / "report" / "rtl_synthesis.json").read_text("utf-8"))
    seconds, memory = synthesis["seconds"], synthesis["peak_mb"]
    row(
        f"synthesis of {len(synthesis['layers'])} layers and the whole",
        f"{seconds:.1f} s",
        "60 s",
        reached=seconds <= 60,
    )
    row("peak memory of one synthesis process", f"{memory} MB", "1500 MB", reached=memory <= 1500)


def print_cocotb(package: Path, env: dict[str, str]) -> None:
    """Run the packed accelerator's own test bench, where cocotb is installed, and print its speed."""
    if importlib.util.find_spec("cocotb") is None:
        print("    cocotb: not installed, so the driver in C++ is not compared with it (pip install cocotb)")
        return
    command = [
        sys.executable,
        str(package / "bench" / "run.py"),
        "--frames",
        str(COCOTB_FRAMES),
        "--pauses",
        "0",
    ]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    found = re.search(r"\bPASS\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)", done.stdout + done.stderr)
    if done.returncode or not found:
        sys.exit(f"the test bench failed:\n{done.stdout}{done.stderr}")
    print(f"    cocotb: {float(found[3]) / 10 / 1e6:.3f} M cycles/s (a clock of 10 ns)")


if __name__ == "__main__":
    main()
