"""Print the processor time that checking a graph takes a node; a build does it after every transform and step.

    python benchmarks/graph_check.py

The graphs are those of the examples, as they come and as hardware layers (which have up to 30 attributes), and one of
5,000 nodes. After a transform a build looks at the structure and notes what the graph lacks; after a step at the
structure, and for shapes and datatypes that were lost. The limit is 10 us a node.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import onnx
from measure import ROOT
from onnx import helper

from brainsmith.build import build
from brainsmith.build.artifact import Artifact
from brainsmith.build.lost_facts import KnownFacts
from brainsmith.build.tensor_facts import TensorFacts
from brainsmith.graph.well_formed import structure_fault

MODELS = {
    "digits mlp": (ROOT / "examples" / "digits" / "mlp.onnx", ROOT / "blueprints" / "digits_mlp.yaml"),
    "digits cnn": (ROOT / "examples" / "digits" / "cnn.onnx", ROOT / "blueprints" / "digits_cnn.yaml"),
    "encoder": (ROOT / "examples" / "encoder" / "encoder.onnx", ROOT / "blueprints" / "encoder_rtl.yaml"),
}
RUNS = 100


def main() -> None:
    """Measure and print."""
    print("us a node:")
    print(f"{'graph':28} {'nodes':>6} {'structure':>10} {'transform':>10} {'step':>10}")
    for name, (file, blueprint) in MODELS.items():
        report(name, onnx.load(file))
        with tempfile.TemporaryDirectory() as folder:
            made = build(
                file, blueprint, Path(folder) / "out", produce="estimates", verify=False, report=False
            )
            report(f"{name}, hardware layers", onnx.load(made.model))
    report("a chain", helper.make_model(chain(5000)))


def report(name: str, model: onnx.ModelProto) -> None:
    """Print one line."""
    graph, artifact = model.graph, Artifact(model.SerializeToString())
    wrapper = artifact.peek()
    assert structure_fault(graph, names=False) == ""
    known = KnownFacts(artifact)
    assert known.restore(wrapper) == []

    def transform() -> None:
        facts = TensorFacts(graph)
        structure_fault(facts)
        facts.lacking()

    def step() -> None:
        nonlocal known
        known = KnownFacts(artifact, known.after)
        facts = TensorFacts(wrapper.graph)
        structure_fault(facts)
        known.restore(wrapper, facts)

    figures = [cost(graph, check) for check in (lambda: structure_fault(graph), transform, step)]
    print(f"{name:28} {len(graph.node):6}" + "".join(f" {figure:10.1f}" for figure in figures))


def cost(graph: Any, check: Callable[[], Any]) -> float:
    """Return the best of some runs, in microseconds a node: other programs on the machine make the others slower."""
    taken = []
    for _ in range(RUNS):
        begin = time.process_time()
        check()
        taken.append(time.process_time() - begin)
    return min(taken) / len(graph.node) * 1e6


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
