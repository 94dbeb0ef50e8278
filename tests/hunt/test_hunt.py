"""The hunt's record, its limit of time and its rates."""

import importlib.util
import sys
from pathlib import Path

import pytest

FILE = Path(__file__).parents[2] / "benchmarks" / "hunt.py"


@pytest.fixture(scope="module")
def hunt():
    spec = importlib.util.spec_from_file_location("hunt_benchmark", FILE)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def test_a_record_is_read_as_it_was_written(hunt, tmp_path):
    file = tmp_path / "out" / "hunt.jsonl"
    assert hunt.read_record(file) == hunt.read_record(None) == []
    ended = [hunt.Ended(hunt.Case(seed, "estimates"), "right", "", True, 0, 1.5, True) for seed in (3, 4)]
    for each in ended:
        hunt.note(file, each)
    assert hunt.read_record(file) == ended


def test_what_takes_too_long_is_no_defect(hunt, tmp_path, monkeypatch):
    for name in ("logging.disable", "signal.signal"):  # what holds for a whole worker
        monkeypatch.setattr(name, lambda *_: None)
    monkeypatch.setattr("tests.hunt.judge.judge", lambda *_: (_ for _ in ()).throw(hunt._TooLong))
    ended = hunt.judged_case(hunt.Case(7, "estimates"), tmp_path, limit=9)
    assert (ended.kind, ended.text.partition(": ")[0]) == ("slow", "longer than 9 s")


@pytest.mark.parametrize(
    ("count", "of", "low", "high"), [(0, 2000, 0.0, 0.0019), (97, 100, 0.9155, 0.9897), (0, 0, 0.0, 1.0)]
)
def test_the_rates_have_wilsons_interval(hunt, count, of, low, high):
    assert hunt.wilson(count, of) == pytest.approx((low, high), abs=1e-4)
