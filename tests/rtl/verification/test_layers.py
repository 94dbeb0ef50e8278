"""Every layer alone: fed and compared with the golden model's tensors, in one simulation."""

from dataclasses import replace

import pytest

from brainsmith.errors import SimulationError, VerificationError
from brainsmith.rtl.library.sources import RtlSource
from brainsmith.rtl.simulation.simulation_plan import Memory
from brainsmith.rtl.verification import layers
from brainsmith.rtl.verification.explained_runs import explain
from brainsmith.rtl.verification.layers import LayerCheck, check_layers, take_apart, verify_layers
from tests.rtl.verification.branches import branches


@pytest.mark.slow
def test_each_layer_of_the_mlp_alone(mlp, tensors, simulations):
    checks = verify_layers(mlp.design, tensors)
    named = [(layer.name, layer.kernel) for layer in mlp.design.layers if layer.kernel != "memstream"]
    assert [(check.layer, check.kernel) for check in checks] == named
    assert all(check.right and check.frames == 6 for check in checks)
    values = [64, 64, 64, 64, 64, 32, 32, 10]
    assert [check.values for check in checks] == [
        2 * 6 * count for count in values
    ]  # with and without stalls
    assert str(checks[-1]) == (
        "layer 'MVAU_rtl_2' (MVAU_rtl) alone computes what the golden model computes: 120 values of 6 frames"
    )


@pytest.mark.slow
def test_a_few_frames_at_a_time_are_as_good_as_all(mlp, tensors, simulations, monkeypatch):
    whole = verify_layers(mlp.design, tensors)
    monkeypatch.setattr(layers, "_BEATS", 1)
    monkeypatch.setattr(layers, "_LEAST_FRAMES", 2)
    assert verify_layers(mlp.design, tensors) == whole
    (out,) = (stream.layout.tensor for stream in mlp.design.outputs)
    wrong = tensors[out].copy()
    wrong[5, 0, 3] += 1
    *others, last = verify_layers(mlp.design, tensors | {out: wrong})
    assert others == whole[:-1]
    assert (last.wrong, last.first.frame, last.first.index) == (2, 5, (0, 3))


def test_wrong_layers_are_named_all_at_once(mlp, tensors, simulations):
    names = ("MVAU_rtl_0_memblock.dat", "MVAU_rtl_2_memblock.dat")
    memories = tuple(_flipped(one) if one.name in names else one for one in mlp.design.memories)
    with pytest.raises(VerificationError) as caught:
        check_layers(replace(mlp.design, memories=memories), tensors)
    head, *lines = str(caught.value).splitlines()
    assert head == "layers of the RTL do not compute what the golden model computes:"
    assert [line.partition(" alone is wrong: ")[0] for line in lines] == [
        "  layer 'MVAU_rtl_0' (MVAU_rtl)", "  layer 'MVAU_rtl_2' (MVAU_rtl)",
    ]  # fmt: skip
    assert all(", first in frame 0 at [0, 0]: " in line for line in lines)


def _flipped(memory):
    first, _, rest = memory.text.partition("\n")
    return Memory(memory.name, f"{int(first, 16) ^ 1:0{len(first)}x}\n{rest}")


def test_a_design_taken_apart_has_the_same_layers_and_no_link_between_two(mlp):
    apart = take_apart(mlp.design)
    assert apart.layers == mlp.design.layers
    assert all("" in (link.source.layer, link.target.layer) for link in apart.links if not link.weights)
    assert len(apart.inputs) == len(apart.outputs) == 8
    assert [link for link in apart.links if link.weights] == [
        link for link in mlp.design.links if link.weights
    ]


def test_a_right_layer_says_what_was_compared():
    assert str(LayerCheck("MVAU_rtl_2", "MVAU_rtl", 6, 120, 0, 0, 0, 0, None)) == (
        "layer 'MVAU_rtl_2' (MVAU_rtl) alone computes what the golden model computes: 120 values of 6 frames"
    )


@pytest.mark.slow
def test_layers_that_lose_beats_give_too_many_or_report_an_error(library, simulations):
    import numpy as np

    frames = np.random.default_rng(2).integers(0, 100, (4, 16))
    golden = dict.fromkeys("xabc", frames) | {"y": 2 * frames}
    whole = branches(library, 0)
    assert [str(check) for check in verify_layers(whole, golden)] == [
        f"layer {name!r} ({name.capitalize()}_rtl) alone computes what the golden model computes: {count} values of 4 "
        "frames"
        for name, count in (("fork", 256), ("collect", 128), ("join", 128))
    ]
    broken = {
        "collect.v": ("n == 16;", "n == 15;"),
        "fork_.v": ("& out1_V_TREADY;\nassign out1", ";\nassign out1"),
    }
    checks = verify_layers(_altered(whole, broken), golden)
    assert [check.right for check in checks] == [False, False, True]
    with pytest.raises(SimulationError, match=r"^each layer alone: 'branches' reports an error in cycle "):
        verify_layers(
            _altered(whole, {"join_.v": ("endmodule", "always @(posedge ap_clk) if (in0_V_TVALID) $stop;\nendmodule")}),
            golden,
        )  # fmt: skip


def test_a_layer_that_does_not_take_its_last_input_is_wrong(library, simulations):
    import numpy as np

    frames = np.random.default_rng(2).integers(1, 100, (1, 16))
    frames[0, -1] = 0
    design = branches(library, 0)
    for change in (
        ("n < 16", "n < 15"), ("n == 16;", "n == 15;"), ("n <= 0;\n    end", "n <= 20;\n    end"),
        ("= kept[given[3:0]]", "= given == 15 ? 8'd0 : kept[given[3:0]]"),
    ):  # fmt: skip
        design = _altered(design, {"collect.v": change})
    golden = dict.fromkeys("xabc", frames) | {"y": 2 * frames}
    found = [check for check in verify_layers(design, golden) if not check.right]
    assert [str(check) for check in found] == [
        "layer 'collect' (Collect_rtl) alone is wrong: 2 beats of its inputs are not taken"
    ]


def _altered(design, changes):
    sources = []
    for source in design.sources:
        before, after = changes.get(source.name, ("", ""))
        assert before in source.text
        sources.append(RtlSource(source.name, source.text.replace(before, after)) if before else source)
    return replace(design, sources=tuple(sources))


@pytest.mark.slow
def test_a_layer_of_the_cnn_is_named_alone_and_in_the_design(cnn, simulations):
    """Padding begins a frame before it is fed, which is no fault."""
    golden = cnn.frames.tensors(2)
    assert cnn.design.surplus == ()  # no window of several pixels is filled by padding alone
    assert all(check.right for check in verify_layers(cnn.design, golden))
    found = explain(cnn.design, cnn.inputs(2), lambda count: golden)
    assert found.kind == "right"
    assert any(
        state.source.moved > state.source.beats
        for state in found.links
        if state.link.name.startswith("FMPadding")
    )
    memories = tuple(
        _flipped(one) if one.name == "MVAU_rtl_2_memblock.dat" else one for one in cnn.design.memories
    )
    wrong = replace(cnn.design, memories=memories)
    assert [check.layer for check in verify_layers(wrong, golden) if not check.right] == ["MVAU_rtl_2"]
    found = explain(wrong, cnn.inputs(2), lambda count: golden)
    assert (found.kind, found.layer) == ("layer", "MVAU_rtl_2")
