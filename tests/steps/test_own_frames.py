"""Layers that give the same for every golden frame are shown to compute, with inputs of their own."""

from types import SimpleNamespace

import numpy as np
import pytest

from brainsmith.errors import BuildError, VerificationError
from brainsmith.plugins import steps
from brainsmith.rtl.verification.layers import check_layers
from brainsmith.steps import own_frames as module
from brainsmith.steps.design_files import hand_over, take_design
from brainsmith.steps.golden_frames import GoldenFrames
from brainsmith.steps.own_frames import FRAMES, OwnFrames, is_same, own_frames
from brainsmith.steps.rtl_simulate import _constant_outputs
from tests.steps.test_rtl_simulate import report_of


@pytest.fixture
def still(stitched, config, tmp_path):
    """The design, and tensors of frames that are all the same."""
    design = take_design(stitched, config)
    np.save(tmp_path / "x.npy", np.zeros((6, 8)))
    config.verify_input_npy = tmp_path / "x.npy"
    return design, GoldenFrames(stitched, design, config).tensors(6)


def test_each_constant_layer_gets_inputs_that_move_its_outputs(stitched, still):
    design, golden = still
    own = own_frames(stitched, design, golden)
    assert list(own.layers) == [layer.name for layer in design.layers if layer.kernel != "memstream"]
    assert own.still == ()
    links = [link for link in design.links if link.layout]
    taken = [own.fed[link.layout.tensor] for link in links if link.target.layer]
    given = [own.given[link.layout.tensor] for link in links if link.source.layer]
    assert {len(stack) for stack in (*taken, *given)} == {FRAMES}
    assert not any(map(is_same, (*taken, *given)))


def test_layers_that_give_different_values_get_none(stitched, config, still, tmp_path):
    np.save(tmp_path / "x.npy", np.random.default_rng(1).integers(-8, 8, (6, 8)))
    golden = GoldenFrames(stitched, still[0], config).tensors(6)
    assert own_frames(stitched, still[0], golden) is None


def test_layers_that_always_give_the_same_are_named(caplog):
    one = {"out": np.full((6, 1, 3), 2)}
    golden = SimpleNamespace(outputs=one, golden=4, generated=2)
    own = OwnFrames(("first", "last"), {}, {}, ("last",))
    assert _constant_outputs(golden, own) == {"out": [2, 2, 2]}
    assert caplog.messages == [
        "output 'out' is always 2, for 4 golden inputs and 2 generated ones: either the network's quantisers leave one "
        "level, or none of the inputs that were tried leads to another; so each layer was verified alone, with inputs made "
        "for it in 2 layers; these have constant outputs all the same: last"
    ]


def test_frames_that_a_layers_datatypes_do_not_hold_become_more_like_the_golden_one(
    stitched, still, monkeypatch
):
    design, golden = still
    whole, said = module.whole, []

    def strict(stack, layout):
        if (np.asarray(stack) == golden[layout.tensor][0]).mean() < 0.5:
            said.append(layout.tensor)
            raise BuildError("not held")
        return whole(stack, layout)

    monkeypatch.setattr(module, "whole", strict)
    own = own_frames(stitched, design, golden)
    assert said
    assert all(len(stack) == FRAMES for stack in (*own.fed.values(), *own.given.values()))


@pytest.mark.slow
def test_a_layer_that_is_stuck_at_its_golden_value_is_caught(stitched, still):
    design, golden = still
    own = own_frames(stitched, design, golden)
    assert all(check.right for check in check_layers(design, own.fed, given=own.given))
    name = own.layers[0]
    (output,) = [link.layout.tensor for link in design.links if link.source.layer == name and link.layout]
    stuck = own.given | {output: np.broadcast_to(golden[output][:1], own.given[output].shape)}
    with pytest.raises(VerificationError, match=f"  layer '{name}' "):
        check_layers(design, own.fed, given=stuck)


@pytest.mark.slow
def test_a_network_with_one_output_is_simulated_and_said(stitched, config, tmp_path, caplog, monkeypatch):
    """Its inputs are all about 0, where its last layer gives one level."""
    monkeypatch.setattr("brainsmith.steps.golden_frames.GENERATED_FRAMES", 1)
    images = np.zeros((6, 8))
    images[::2, 0] = 1
    np.save(tmp_path / "x.npy", images)
    config.verify_input_npy = tmp_path / "x.npy"
    design = take_design(stitched, config)
    frames = GoldenFrames(stitched, design, config)
    assert [is_same(stack) for stack in frames.outputs.values()] == [True]
    monkeypatch.setattr(
        "brainsmith.steps.rtl_simulate.GoldenFrames", lambda *given, generate: GoldenFrames(*given)
    )
    steps.rtl_simulate(hand_over(stitched, config, design), config, seeds=1)
    report = report_of(tmp_path)
    (name,) = report["constant_outputs"]
    assert report["constant_layers"]
    assert [text for text in caplog.messages if f"output '{name}' is always " in text]
