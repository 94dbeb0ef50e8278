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
from pathlib import Path

from measure import ROOT, Figures, compile_package, empty_cache, environment, row, run_once
from quick_compiles import print_quick_compiles
from stitched import EXAMPLES, make_network, print_interval, print_network

from brainsmith.rtl.package.contents import BENCH
from brainsmith.rtl.stitching.top_module import plan_design

NETWORKS = ("mlp", "cnn", "residual")
BLUEPRINTS = tuple(ROOT / "blueprints" / f"digits_{name}_rtl.yaml" for name in NETWORKS)
LIMITS = {"mlp": 60, "cnn": 120, "residual": 180}
"""Seconds for the first build to `simulated`."""
SYNTHESIS_LIMITS = {"mlp": 60}
"""Seconds for the synthesis, of the networks that have a goal."""
COCOTB_FRAMES = 20
CLOCK_NS = 10
"""Of the clock in the package's test bench."""


def main() -> None:
    """Measure and print everything."""
    parser = argparse.ArgumentParser(description="Print what circuits cost without a vendor tool.")
    parser.add_argument("blueprints", nargs="*", type=Path, default=BLUEPRINTS)
    blueprints = parser.parse_args().blueprints
    compile_package()
    with empty_cache() as folder:
        os.environ.update({name: str(folder / name) for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME")})
        for name in NETWORKS:
            network = make_network(name, folder / name)
            print(f"digits {name}, stitched, simulated in this process:")
            print_network(network, folder / name / "simulations")
            if name == NETWORKS[0]:
                print_quick_compiles(plan_design(network.design), folder)
    for blueprint in blueprints:
        if blueprint.is_file():
            print_builds(blueprint)
        else:
            print(f"{blueprint.name}: skipped, there is no such blueprint")


def print_builds(blueprint: Path) -> None:
    """Build with a blueprint in fresh processes, to `simulated`, again, and then to the end; print figures."""
    name = next((one for one in NETWORKS if f"_{one}" in blueprint.stem), NETWORKS[0])
    with empty_cache() as cache:
        env, output = environment(cache), cache / "out"
        command = [str(Path(sys.executable).with_name("brainsmith")), "build", str(EXAMPLES / f"{name}.onnx")]
        command += ["--blueprint", str(blueprint.resolve()), "--output", str(output), "--produce"]
        print(f"brainsmith build {name}.onnx --blueprint {blueprint.name}, fresh processes:")
        first, again, rest = Figures(), Figures(), Figures()
        run_once([*command, "simulated"], env, first, cwd=cache)
        run_once([*command, "simulated"], env, again, cwd=cache)
        limit = LIMITS[name]
        row(
            "first build to simulated",
            f"{first.median_s:.1f} s",
            f"{limit} s",
            reached=first.median_s <= limit,
        )
        row("unchanged again", f"{again.median_s:.2f} s", "5 s", reached=again.median_s <= 5)
        print_simulation(output)
        run_once([*command, "synthesised"], env, rest, cwd=cache)
        print(
            f"    the first's peak memory {first.median_mb:.0f} MB; to synthesised {rest.median_s:.1f} s more"
        )
        print_synthesis(output, SYNTHESIS_LIMITS.get(name))
        print_cocotb(output / "accelerator", env)


def print_simulation(output: Path) -> None:
    """Print what a build's report says of its simulation."""
    found = json.loads((output / "report.json").read_text("utf-8"))["rtl"]
    print_interval(found["interval_cycles"], found["interval_estimate"])
    for kind, frames, wrong in (
        ("without", "frames", "mismatches"),
        ("with", "stalled_frames", "stalled_mismatches"),
    ):
        row(
            f"wrong frames {kind} stalls", f"{found[wrong]} of {found[frames]}", "0", reached=not found[wrong]
        )
    accuracy = "unknown" if found["accuracy"] is None else f"{found['accuracy']:.4f}"
    print(f"    {found['cycles_per_second'] / 1e6:.2f} M cycles/s, accuracy {accuracy}")


def print_synthesis(output: Path, limit: int | None) -> None:
    """Print what the synthesis of a build took; `limit` is its goal in seconds, if it has one."""
    found = json.loads((output / "report" / "rtl_synthesis.json").read_text("utf-8"))
    seconds, memory = found["seconds"], found["peak_mb"]
    what = f"synthesis of {len(found['layers'])} layers, FIFOs and the whole"
    if limit is None:
        print(f"    {what}: {seconds:.1f} s")
    else:
        row(what, f"{seconds:.1f} s", f"{limit} s", reached=seconds <= limit)
    row("peak memory of one synthesis process", f"{memory} MB", "1500 MB", reached=memory <= 1500)


def print_cocotb(package: Path, env: dict[str, str]) -> None:
    """Run the packed accelerator's own test bench, where cocotb is installed, and print its speed."""
    if importlib.util.find_spec("cocotb") is None:
        print("    cocotb is not installed, so the driver in C++ is not compared with it: pip install cocotb")
        return
    bench = package / BENCH / "run.py"
    if not bench.is_file():
        print("    the build made no package, so the driver in C++ is not compared with cocotb")
        return
    command = [sys.executable, str(bench), "--frames", str(COCOTB_FRAMES), "--pauses", "0"]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    found = re.search(r"\bPASS\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)", done.stdout + done.stderr)
    if done.returncode or not found:
        sys.exit(f"the test bench of the package failed:\n{done.stdout}{done.stderr}")
    print(f"    the same design driven by cocotb: {float(found[3]) / CLOCK_NS / 1e3:.3f} k cycles/s")


if __name__ == "__main__":
    main()
