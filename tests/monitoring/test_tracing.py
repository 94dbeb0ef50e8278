"""Spans of real builds, in the memory of OpenTelemetry's own SDK: which there are, and that they change nothing."""

import os
import random

import numpy as np
import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from brainsmith.build import build
from brainsmith.errors import BuildError, PluginLoadError
from brainsmith.monitoring import tracing
from brainsmith.monitoring.work_span import WorkSpan
from brainsmith.plugin.adapters.qonnx import QONNXAdapter
from brainsmith.plugin.manager import get_plugin_manager
from brainsmith.rtl.synthesis.script import YosysCommand
from brainsmith.rtl.synthesis.yosys import Job, map_piece
from brainsmith.store.folders import KeptFolders
from tests.build import graphs
from tests.cli.command import ROOT


@pytest.fixture
def exported(monkeypatch):
    """Set up a provider as programs do, but for this test only; give what it exports."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: provider)
    yield exporter
    provider.shutdown()


def tree(exporter):
    """The spans as (name, parent's name), in the order of their beginnings."""
    spans = sorted(exporter.get_finished_spans(), key=lambda span: span.start_time)
    names = {span.context.span_id: span.name for span in spans}
    return [(span.name, names.get(span.parent.span_id) if span.parent else None) for span in spans]


def named(exporter, name):
    return [span for span in exporter.get_finished_spans() if span.name == name]


def test_a_build_is_a_span_and_its_steps_are_below(exported, tmp_path):
    result = build(graphs.quant_mlp(), output=tmp_path / "out", steps=["cleanup"], report=False)
    spans = tree(exported)
    assert [pair for pair in spans if pair[0].startswith(("build", "step"))] == [
        ("build", None),
        ("step cleanup", "build"),
    ]
    assert set(spans) >= {("load", "step cleanup")}
    (whole,), (step,) = named(exported, "build"), named(exported, "step cleanup")
    assert dict(whole.attributes) == {
        "code.function.name": "brainsmith.build.build_model.build",
        "brainsmith.build.id": result.report["build_id"],
        "brainsmith.model.name": "model in memory",
        "brainsmith.build.proven": result.proven,
        "brainsmith.outcome": "ok",
    }
    assert dict(step.attributes) == {
        "code.function.name": "brainsmith.steps.cleanup.cleanup",
        "brainsmith.step.name": "cleanup",
        "brainsmith.step.framework": "brainsmith",
        "brainsmith.outcome": "ok",
    }
    assert whole.status.status_code is trace.StatusCode.UNSET


def test_a_step_whose_result_is_kept_is_reused(exported, tmp_path):
    for _ in range(2):
        build(
            graphs.quant_mlp(seed=7), output=tmp_path / "out", steps=["cleanup"], report=False, verify=False
        )
    outcomes = [span.attributes["brainsmith.outcome"] for span in named(exported, "step cleanup")]
    assert outcomes == ["ok", "reused"]


def test_a_failure_has_the_status_of_one(exported, tmp_path):
    def odd(model, cfg):
        raise ZeroDivisionError("why")

    with pytest.raises(BuildError):
        build(graphs.quant_mlp(), output=tmp_path / "out", steps=["cleanup", odd], report=False, verify=False)
    (whole,), (step,) = named(exported, "build"), named(exported, "step odd")
    assert step.attributes["code.function.name"] == (
        "tests.monitoring.test_tracing.test_a_failure_has_the_status_of_one.<locals>.odd"
    )
    for span in (whole, step):
        assert span.status.status_code is trace.StatusCode.ERROR
        assert "ZeroDivisionError: why" in span.status.description
        assert (span.attributes["error.type"], span.attributes["brainsmith.outcome"]) == (
            "BuildError",
            "failed",
        )
        assert [event.name for event in span.events] == ["exception"]


@pytest.mark.finds_anew
def test_a_discovery_has_its_adapters_and_is_known_by_where_it_was_found(exported):
    manager = get_plugin_manager()
    manager.discover_plugins(modes=["full"])
    scan = named(exported, "discovery")
    assert [span.attributes["brainsmith.discovery.source"] for span in scan] == ["scan"]
    assert scan[0].attributes["brainsmith.discovery.plugins"] == len(manager.everything().records)
    assert [pair for pair in tree(exported) if pair[0].startswith("adapter")] == [
        (f"adapter {name}", "discovery")
        for name in ("brainsmith", "project", "entry_points", "qonnx", "finn")
    ]
    exported.clear()
    manager.reset()
    manager.discover_plugins(modes=["full"])
    manager.discover_plugins(modes=["full"])  # a check, which finds nothing
    (disk,) = exported.get_finished_spans()
    assert (disk.name, disk.attributes["brainsmith.discovery.source"]) == ("discovery", "disk")
    assert disk.end_time > disk.start_time


@pytest.mark.finds_anew
def test_an_adapter_that_fails_is_seen_though_the_discovery_goes_on(exported, monkeypatch):
    def discover(self, reading):
        raise OSError("no such disk")

    monkeypatch.setattr(QONNXAdapter, "discover", discover)
    get_plugin_manager().discover_plugins(modes=["full"])
    (span,), (whole,) = named(exported, "adapter qonnx"), named(exported, "discovery")
    assert span.status.description == "no such disk"
    assert whole.status.status_code is trace.StatusCode.UNSET


def test_a_plugin_that_cannot_be_loaded_is_named_with_its_place(exported, tmp_path, monkeypatch):
    (tmp_path / ".brainsmith").mkdir()
    (tmp_path / "plugins").mkdir()
    file = tmp_path / "plugins" / "broken.py"
    file.write_text(
        "from brainsmith.plugin.core import step\nimport nowhere_at_all\n\n"
        "@step\ndef broken(model, cfg):\n    return model\n"
    )
    monkeypatch.chdir(tmp_path)
    with pytest.raises(PluginLoadError):
        get_plugin_manager().registry.get("step", "broken")
    (span,) = named(exported, "load")
    assert span.status.status_code is trace.StatusCode.ERROR
    assert dict(span.attributes) == {
        "code.function.name": "brainsmith.plugin.plugin_loading.import_object",
        "code.file.path": str(file),
        "code.line.number": 4,
        "brainsmith.plugin.name": "project:broken",
        "brainsmith.plugin.type": "step",
        "brainsmith.outcome": "failed",
        "error.type": "PluginLoadError",
    }


def test_ids_are_not_drawn_from_the_random_numbers_of_a_step(exported):
    def numbers(traced):
        random.seed(5)
        np.random.seed(5)
        if traced:
            for _ in range(3):
                with WorkSpan("simulation", "here") as span:
                    span.set("brainsmith.simulation.cycles", 1)
        return random.random(), np.random.random()

    assert numbers(traced=True) == numbers(traced=False)
    random.seed(5)
    with WorkSpan("simulation", "here"):
        pass
    random.seed(5)
    with WorkSpan("simulation", "here"):
        pass
    ids = [span.context.span_id for span in exported.get_finished_spans()]
    assert len(ids) == len(set(ids)) == 5


class Reading(SpanExporter):
    """An exporter that reads a file and a variable in the thread whose span ends, and fails."""

    def __init__(self, file):
        self.file, self.asked = file, 0

    def export(self, spans):
        self.asked += 1
        os.environ.get("COLLECTOR_ADDRESS")
        self.file.read_text()
        raise ConnectionError("the collector is gone")


class Raising(SimpleSpanProcessor):
    """The SDK guards exporters; a processor may raise all the same."""

    def on_end(self, span):
        self.span_exporter.export((span,))


def test_an_exporter_neither_ends_a_build_nor_is_it_read_by_its_steps(tmp_path, monkeypatch, caplog):
    file = tmp_path / "collector.pem"
    file.write_text("a certificate")
    exporter, provider = Reading(file), TracerProvider()
    provider.add_span_processor(Raising(exporter))
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: provider)
    monkeypatch.setattr(tracing, "_warned", set())

    def inner(model, cfg):
        tracing._warned.clear()  # so that the warning comes while the step runs
        with WorkSpan("simulation", "here"):
            return model

    result = build(
        graphs.quant_mlp(), output=tmp_path / "out", steps=["cleanup", inner], report=False, verify=False
    )
    assert exporter.asked >= 4
    assert str(file) not in result.outside.files
    assert "COLLECTOR_ADDRESS" not in result.outside.variables
    assert not [line for line in (*result.warnings, *result.steps[-1].messages) if "span" in line]
    said = [record.getMessage() for record in caplog.records if record.name == tracing.__name__]
    assert said == ["a span could not be reported: ConnectionError: the collector is gone"] * 2


def test_nothing_begins_where_no_provider_is_set_up(monkeypatch):
    monkeypatch.setattr(trace, "get_tracer_provider", trace.ProxyTracerProvider)
    assert tracing.begin("build", {}) is None
    assert tracing.ids_now() == {}
    with WorkSpan("step", "here") as span:
        span.set("brainsmith.step.name", "nobody listens")
    tracing.note_past("discovery", {}, 0)


@pytest.mark.slow
def test_a_circuit_has_simulations_and_syntheses_below_its_steps(exported, tmp_path):
    build(
        ROOT / "examples/digits/mlp.onnx", ROOT / "blueprints/digits_mlp_rtl.yaml", tmp_path / "out", use_cache=False,
        report=False,
    )  # fmt: skip
    pairs = set(tree(exported))
    assert {("simulation", "step rtl_size_fifos"), ("simulation", "step rtl_simulate")} <= pairs
    assert {parent for name, parent in pairs if name.startswith("step ")} == {"build"}
    assert {parent for name, parent in pairs if name == "synthesis"} <= {"step rtl_synthesise"}
    outcomes = {span.attributes["brainsmith.outcome"] for span in named(exported, "simulation")}
    assert "failed" not in outcomes
    assert all(span.attributes["brainsmith.simulation.cycles"] > 0 for span in named(exported, "simulation"))


@pytest.mark.slow
def test_what_yosys_does_is_a_span(exported, tmp_path):
    job = Job(
        "nothing", {"a.v": "module a; nonsense"}, (YosysCommand("read_verilog a.v", ""),), "Yosys", top="a"
    )
    with pytest.raises(BuildError, match="nothing cannot be synthesised; Yosys says:"):
        map_piece(job, KeptFolders(tmp_path / "synthesis"))
    (span,) = named(exported, "synthesis")
    assert (span.attributes["brainsmith.design.name"], span.attributes["brainsmith.tool.name"]) == (
        "nothing",
        "Yosys",
    )
    assert span.attributes["brainsmith.outcome"] == "failed"
