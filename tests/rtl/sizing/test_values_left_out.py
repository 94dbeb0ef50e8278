"""Without values the same beats move in the same cycles."""

from dataclasses import replace

import numpy as np
import pytest

from brainsmith.rtl.library.sources import RtlSource
from brainsmith.rtl.sizing import fifos
from brainsmith.rtl.sizing.adjustable import UNBOUNDED, usual_capacities
from brainsmith.rtl.sizing.fifos import size_fifos
from brainsmith.rtl.sizing.sizing_runs import Runner
from brainsmith.rtl.sizing.values_left_out import leave_values_out
from brainsmith.rtl.verification.design_runs import random_frames

PRODUCT = "mvu.sv"


def text_of(design):
    return next(source.text for source in design.sources if source.name == PRODUCT)


def with_text(design, text):
    sources = tuple(
        RtlSource(PRODUCT, text) if source.name == PRODUCT else source for source in design.sources
    )
    return replace(design, sources=sources)


def test_products_are_left_out_and_when_they_are_given_stays(design):
    short = leave_values_out(design)
    assert text_of(short).endswith("assign\tvld = L[PIPELINE_DEPTH];\n\n\tassign\tp = '0;\nendmodule : mvu\n")
    assert "mvu-without-values" in next(one.rules for one in short.sources if one.name == PRODUCT)
    assert replace(short, sources=design.sources) == design
    assert leave_values_out(short) is short


def test_another_file_of_that_name_stays_as_it_is(design):
    other = with_text(design, "module mvu; endmodule")
    assert leave_values_out(other) is other


@pytest.mark.slow
def test_every_beat_moves_in_the_same_cycle(design, simulations):
    frames = random_frames(design)
    runners = [
        Runner(one, frames, usual_capacities(design), quick=True)
        for one in (design, leave_values_out(design))
    ]
    random = np.random.default_rng(0)
    vectors = [
        dict.fromkeys(runners[0].capacities, UNBOUNDED),
        *({name: int(random.integers(2, 300)) for name in runners[0].capacities} for _ in range(5)),
    ]
    for depths in vectors:
        whole, short = (runner.run(12, depths) for runner in runners)
        assert short.fills == whole.fills
        for name, traffic in whole.result.streams.items():
            assert short.result.streams[name].moved_at.tolist() == traffic.moved_at.tolist()


@pytest.mark.slow
@pytest.mark.parametrize("alike", [False, True])
def test_a_layer_whose_cycles_depend_on_values_is_sized_with_them(design, simulations, monkeypatch, alike):
    """What is left out makes the design stand still, or says a rate that the design does not have."""
    plain = size_fifos(design, random_frames(design), search=False)
    stuck = with_text(design, text_of(design).replace("vld = L[PIPELINE_DEPTH]", "vld = 0"))
    assert stuck != design
    hasty = replace(
        leave_values_out(design),
        layers=tuple(replace(layer, cycles=layer.cycles * 2 // 3) for layer in design.layers),
    )
    monkeypatch.setattr(fifos, "leave_values_out", lambda whole: stuck)
    if alike:
        read_gauges = fifos.read_gauges
        monkeypatch.setattr(fifos, "leave_values_out", lambda whole: hasty)
        monkeypatch.setattr(
            fifos, "read_gauges",
            lambda timed, *others: (fast if timed is hasty else same)(read_gauges(timed, *others)),
        )  # fmt: skip
    done = size_fifos(design, random_frames(design), search=False)
    spent = {"seconds": 0.0, "cycles_per_second": None}
    assert replace(done, **spent) == replace(plain, **spent)


def same(measured):
    return measured


def fast(measured):
    return replace(measured, gauge=replace(measured.gauge, interval=measured.gauge.interval * 2 // 3))
