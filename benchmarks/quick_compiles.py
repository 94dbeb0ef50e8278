"""Print what it saves that a quick compile of a simulation does not read Verilator's headers again: `rtl.py` calls it.

    python benchmarks/quick_compiles.py

The same network is compiled in turn with the headers that were compiled once, and with a compiler that cannot do that, so
that they are read each time. What counts is CPU time, of the compiler and Verilator.
"""

from __future__ import annotations

import os
import shutil
import statistics
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from measure import empty_cache, row
from stitched import make_network

if TYPE_CHECKING:
    from brainsmith.rtl.simulation.simulation_plan import SimulationPlan
    from brainsmith.rtl.simulation.toolchain import Toolchain

RUNS = 7
GOAL = 0.75
WITHOUT = '#!/bin/sh\ncase " $* " in *" c++-header "*) exit 1;; esac\nexec "{compiler}" "$@"\n'


@dataclass
class Side:
    """One of the two ways.

    Attributes:
        tools: What it compiles with.
        cache: Its own folder of caches.
        first: CPU seconds of the first compile, with all that is made once.
        seconds: CPU seconds of each later one.
    """

    tools: Toolchain
    cache: Path
    first: float = 0.0
    seconds: list[float] = field(default_factory=list)

    def compile(self, plan: SimulationPlan) -> float:
        """Compile a design anew, and return what that took."""
        from brainsmith.rtl.simulation.simulator_build import build_simulator

        for entry in self.cache.glob("brainsmith/rtl/*/simulation.so"):
            shutil.rmtree(entry.parent)
        os.environ["XDG_CACHE_HOME"] = str(self.cache)
        begin = _used()
        build_simulator(plan, tools=self.tools, quick=True)
        return _used() - begin


def print_quick_compiles(plan: SimulationPlan, folder: Path) -> None:
    """Compile a design in turn with both, and print the ratio."""
    from brainsmith.rtl.simulation.toolchain import find_toolchain

    tools = find_toolchain()
    compiler = folder / "g++"
    compiler.write_text(WITHOUT.format(compiler=tools.compiler), encoding="utf-8")
    compiler.chmod(0o755)
    kept = Side(tools, folder / "kept")
    read = Side(replace(tools, compiler=str(compiler)), folder / "read")
    for side in (kept, read):
        side.first = side.compile(plan)
    for _ in range(RUNS):
        for side in (kept, read):
            side.seconds.append(side.compile(plan))
    with_headers, without = statistics.median(kept.seconds), statistics.median(read.seconds)
    ratio = with_headers / without
    row("quick compile, headers compiled once / read", f"{ratio:.2f}", f"{GOAL}", reached=ratio <= GOAL)
    once = kept.first - read.first
    print(
        f"    {with_headers:.2f} s and {without:.2f} s of CPU; to compile the headers takes {once:.1f} s, once"
    )


def _used() -> float:
    times = os.times()
    return times.children_user + times.children_system


def main() -> None:
    """Measure the smallest of the networks."""
    from brainsmith.rtl.stitching.top_module import plan_design

    with empty_cache() as folder:
        os.environ.update({name: str(folder / name) for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME")})
        network = make_network("mlp", folder / "mlp")
        print("digits mlp, stitched:")
        print_quick_compiles(plan_design(network.design), folder)


if __name__ == "__main__":
    main()
