"""Print the processor time that checking a graph's structure takes a node; a build does it after every transform.

    python benchmarks/graph_check.py

The graphs are those of the examples, as they come and as hardware layers (which have up to 30 attributes), and one of
5,000 nodes. The limit is 10 us a node.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import onnx
from measure import ROOT
from onnx import helper

from brainsmith.build import build
from brainsmith.graph.well_formed import structure_fault

MODELS = {
    "digits mlp": (ROOT / "examples" / "digits" / "mlp.onnx", ROOT / "blueprints" / "digits_mlp.yaml"),
    "digits cnn": (ROOT / "examples" / "digits" / "cnn.onnx", ROOT / "blueprints" / "digits_cnn.yaml"),
    "encoder": (ROOT / "examples" / "encoder" / "encoder.onnx", ROOT / "blueprints" / "encoder_rtl.yaml"),
}
RUNS = 30


def main() -> None:
    """Measure and print."""
    print(f"{'graph':28} {'nodes':>6} {'us a node':>10}")
    for name, (file, blueprint) in MODELS.items():
        report(name, onnx.load(file).graph)
        with tempfile.TemporaryDirectory() as folder:
            made = build(
                file, blueprint, Path(folder) / "out", produce="estimates", verify=False, report=False
            )
            report(f"{name}, hardware layers", onnx.load(made.model).graph)
    report("a chain", chain(5000))


def report(name: str, graph: Any) -> None:
    """Print one line."""
    print(f"{name:28} {len(graph.node):6} {cost(graph):10.1f}")


def cost(graph: Any) -> float:
    """Return the median of some runs, in microseconds a node."""
    assert structure_fault(graph, names=False) == ""
    taken = []
    for _ in range(RUNS):
        begin = time.process_time()
        structure_fault(graph)
        taken.append(time.process_time() - begin)
    return statistics.median(taken) / len(graph.node) * 1e6


def chain(count: int) -> Any:
    """Return a graph of nodes one after the other, each with a weight."""
    nodes = [
        helper.make_node("Add", [f"t{at}", f"w{at}"], [f"t{at + 1}"], name=f"n{at}") for at in range(count)
    ]
    ends = [helper.make_tensor_value_info(name, 1, [1]) for name in ("t0", f"t{count}")]
    weights = [helper.make_tensor(f"w{at}", 1, [1], [1.0]) for at in range(count)]
    return helper.make_graph(nodes, "chain", ends[:1], ends[1:], weights)


if __name__ == "__main__":
    main()
