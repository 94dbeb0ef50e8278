"""Work is counted by its outcome and timed, whether anybody wants traces or not."""

import pytest

from brainsmith.monitoring.work_span import DURATIONS, RUNNING, WorkSpan
from tests.plugin.installed import run_python


def counts(kind):
    return {labels[0]: found.counts[-1] for labels, found in DURATIONS[kind].found().items()}


def added(kind, before):
    more = {outcome: count - before.get(outcome, 0) for outcome, count in counts(kind).items()}
    return {outcome: count for outcome, count in more.items() if count}


@pytest.mark.parametrize(
    ("error", "outcome"),
    [(ValueError("no"), "failed"), (SystemExit(1), "failed"), (KeyboardInterrupt(), "interrupted")],
)
def test_an_error_that_leaves_it_is_its_outcome(error, outcome):
    before = counts("simulation")
    with pytest.raises(type(error)), WorkSpan("simulation", "here"):
        assert RUNNING.found()["simulation",] == 1
        raise error
    assert added("simulation", before)[outcome] == 1
    assert RUNNING.found()["simulation",] == 0


def test_the_body_may_say_how_it_ended():
    before = counts("step")
    with WorkSpan("step", "here") as span:
        span.outcome = "reused"
    with WorkSpan("step", "here") as span:
        span.failed(ValueError("dealt with"))
    with WorkSpan("step", "here") as span:
        span.set("brainsmith.step.name", "nobody listens")
    assert added("step", before) == {"ok": 1, "reused": 1, "failed": 1}


def test_discoveries_are_counted_by_the_hub_alone():
    assert "discovery" not in DURATIONS and "adapter" not in DURATIONS
    with WorkSpan("discovery", "here"):
        assert ("discovery",) not in RUNNING.found()


@pytest.mark.slow
def test_a_build_without_traces_imports_nothing_of_them():
    found = run_python(
        "import json, sys\n"
        "from brainsmith.build import build\n"
        "from tests.build import graphs\n"
        "build(graphs.quant_mlp(), output='out', steps=['cleanup'], report=False)\n"
        "from brainsmith.monitoring.work_span import DURATIONS\n"
        "done = {labels[0]: found.counts[-1] for labels, found in DURATIONS['build'].found().items()}\n"
        "late = ('opentelemetry', 'prometheus_client', 'wsgiref')\n"
        "print(json.dumps([done, [name for name in late if name in sys.modules]]))\n"
    )
    assert found == [{"ok": 1, "failed": 0}, []]
