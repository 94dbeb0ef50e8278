"""What running in production costs: rows that can be printed one by one.

python benchmarks/production.py [--only NAME]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from catalogue_site import catalogue
from foreign_environments import foreign_environments
from locked_builds import locked
from measure import ROOT, compile_package, environment, row
from plugin_reloads import reloads
from shared_caches import shared_discovery
from watched_saves import watched

OBSERVED = 0.01
"""The share of a build's time that its figures and spans may cost."""

ROUNDS, BUILDS = 3, 5

BUILDING = """\
import json, statistics, sys, time
traced, use_cache, count, output = sys.argv[1] == "on", sys.argv[2] == "kept", int(sys.argv[3]), sys.argv[4]
if traced:
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace import SpanProcessor
    class Counting(SpanProcessor):
        count = 0
        def on_end(self, span):
            self.count += 1
    counting, provider = Counting(), TracerProvider()
    provider.add_span_processor(counting)
    trace.set_tracer_provider(provider)
from brainsmith.build import build
from brainsmith.monitoring.work_span import WorkSpan
taken = []
for _ in range(count):
    begin = time.process_time()
    build("examples/digits/mlp.onnx", "blueprints/digits_mlp.yaml", output, use_cache=use_cache)
    taken.append(time.process_time() - begin)
spans = counting.count / count if traced else 0
costs = []
for _ in range(500):
    begin = time.perf_counter()
    with WorkSpan("step", "here", {"brainsmith.step.name": "nothing"}, "nothing") as span:
        span.set("brainsmith.step.framework", "none")
    costs.append(time.perf_counter() - begin)
print(json.dumps([min(taken[1:]), statistics.median(costs), spans]))
"""


def observed() -> None:
    """Build with a provider of spans that has no exporter, and without one, in turn: the fastest of some builds of each.

    In seconds of CPU: nothing waits in such a build, and other work on the machine adds less to them. Even so two builds
    differ by more than what is measured, so the row is the number of spans times what one costs.
    """
    compile_package()
    for kept, what in (("none", "every step runs"), ("kept", "all steps are reused")):
        found: dict[str, list[tuple[float, float, float]]] = {"on": [], "off": []}
        with tempfile.TemporaryDirectory(prefix="brainsmith-bench-") as folder:
            env = environment(Path(folder) / "cache", PYTHONPATH=str(ROOT))
            for _ in range(ROUNDS):
                for way, runs in found.items():
                    command = [sys.executable, "-c", BUILDING, way, kept, str(BUILDS), f"{folder}/out"]
                    done = subprocess.run(command, env=env, cwd=ROOT, stdout=subprocess.PIPE, check=True)
                    runs.append(tuple(json.loads(done.stdout)))
        on, off = (min(seconds for seconds, _, _ in found[way]) for way in ("on", "off"))
        cost, none = (min(cost for _, cost, _ in found[way]) for way in ("on", "off"))
        spans = max(count for _, _, count in found["on"])
        share = spans * cost / off
        print(
            f"  {what}: {off * 1e3:.1f} ms of CPU without traces, {on * 1e3:.1f} ms with; {spans:.0f} spans a build"
        )
        print(f"  one span: {cost * 1e6:.0f} us with a provider, {none * 1e6:.1f} us without")
        row(f"figures and spans, {what}", f"{share:.2%}", f"{OBSERVED:.0%}", reached=share <= OBSERVED)


ROWS = {
    "locked": locked,
    "metrics": observed,
    "environments": foreign_environments,
    "shared_discovery": shared_discovery,
    "catalogue": catalogue,
    "watch": watched,
    "reloads": reloads,
}


def main() -> None:
    """Print the rows that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=ROWS, action="append", help="print only these rows")
    for name in parser.parse_args().only or ROWS:
        print(f"{name}:")
        ROWS[name]()


if __name__ == "__main__":
    main()
