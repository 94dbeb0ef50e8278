"""Faults of every kind in the digits MLP: the layer at fault is named each time."""

import numpy as np
import pytest

from brainsmith.rtl.verification.explained_runs import explain
from brainsmith.store.file_lock import FileLock
from tests.rtl.verification.faulty import DOUBLE, DROP, HANG, SWAP, make_faulty

FRAMES = 6
LAYERS = (
    "Thresholding_rtl_0", "StreamingDataWidthConverter_rtl_0", "MVAU_rtl_0", "Thresholding_rtl_1",
    "StreamingDataWidthConverter_rtl_1", "MVAU_rtl_1", "Thresholding_rtl_2", "MVAU_rtl_2",
)  # fmt: skip
ANY_LAYER = [*LAYERS[:2], *(pytest.param(name, marks=pytest.mark.slow) for name in LAYERS[2:])]


@pytest.fixture(scope="module")
def faulty(mlp, simulations):
    """A design that no other process alters meanwhile; what is kept of it is as it was afterwards."""
    for number in range(100):
        with FileLock(str(simulations.parent / f"faulty-{number}.lock"), seconds=0) as mine:
            if mine:
                made = make_faulty(mlp.design, number)
                yield made
                made.restore()
                return


@pytest.fixture
def diagnose(faulty, mlp, tensors):
    return lambda **fault: faulty.diagnose(mlp.inputs(FRAMES), tensors, **fault)


def changed(text, word, flip):
    words = text.split()
    words[word] = f"{int(words[word], 16) ^ flip:0{len(words[word])}x}"
    return "\n".join(words) + "\n"


@pytest.mark.slow
def test_a_design_without_a_fault_is_right(diagnose, mlp):
    found = diagnose()
    assert str(found) == "every link of the design carries what the golden model computes, for 6 frames"
    assert [state.link.name for state in found.links] == [
        link.name for link in mlp.design.links if not link.weights
    ]
    for state in found.links:
        assert state.source.moved == state.target.moved == state.source.beats and not state.source.wrong
    assert {state.source.values for state in found.links} == {6 * 64, 6 * 32, 6 * 10}


@pytest.mark.parametrize("layer", ["MVAU_rtl_0", "MVAU_rtl_1", "MVAU_rtl_2"])
def test_one_wrong_bit_of_one_weight_names_the_layer(layer, diagnose, faulty):
    name = f"{layer}_memblock.dat"
    found = diagnose(memories={name: changed(faulty.clean[name], 0, 1)})
    assert (found.kind, found.layer, found.kernel) == ("layer", layer, "MVAU_rtl")
    assert found.link == f"{layer}_out0_V"
    assert (found.seen.first.frame, found.seen.first.index) == (0, (0, 0))
    assert 0 < found.seen.wrong <= FRAMES  # one output channel of each frame
    assert found.seen.values == FRAMES * {"MVAU_rtl_0": 64, "MVAU_rtl_1": 32, "MVAU_rtl_2": 10}[layer]
    assert str(found) == (
        f"layer '{layer}' (MVAU_rtl) is at fault: its inputs are right, and at '{layer}_out0_V' {found.seen.wrong} of "
        f"{found.seen.values} values are wrong, first in frame 0 at [0, 0]: {found.seen.first.found} instead of "
        f"{found.seen.first.expected}"
    )


def test_two_channels_swapped_in_the_weights_name_the_layer(diagnose, faulty, tensors):
    words = faulty.clean["MVAU_rtl_1_memblock.dat"].split()
    fold = len(words) // 32  # words of one output channel
    swapped = [*words[fold : 2 * fold], *words[:fold], *words[2 * fold :]]
    found = diagnose(memories={"MVAU_rtl_1_memblock.dat": "\n".join(swapped)})
    assert (found.kind, found.layer) == ("layer", "MVAU_rtl_1")
    golden = tensors["MVAU_rtl_1_out0"][0, 0]
    assert (found.seen.first.index, found.seen.first.expected, found.seen.first.found) == (
        (0, 0),
        golden[0],
        golden[1],
    )
    assert found.seen.wrong == 2 * FRAMES


def test_a_threshold_that_matters_names_the_layer_and_one_that_does_not_is_said(diagnose, faulty):
    name = "Thresholding_rtl_1_threshs_0_2.dat"
    text = faulty.clean[name]
    outcomes = [
        diagnose(memories={name: changed(text, word, flip)}) for flip in (1, 8) for word in (0, 5, 9, 13)
    ]
    assert {found.kind for found in outcomes} == {
        "layer",
        "right",
    }  # some lie where no value of these frames does
    for found in outcomes:
        if found.kind == "layer":
            assert (found.layer, found.kernel) == ("Thresholding_rtl_1", "Thresholding_rtl")
            assert found.seen.first.found != found.seen.first.expected
        else:
            assert (
                str(found) == "every link of the design carries what the golden model computes, for 6 frames"
            )


@pytest.mark.parametrize("layer", ANY_LAYER)
@pytest.mark.slow
def test_a_dropped_beat_names_the_layer(layer, diagnose):
    found = diagnose(layer=layer, what=DROP, beat=20)
    assert (found.kind, found.layer, found.link) == ("layer", layer, f"{layer}_out0_V")
    assert (found.seen.moved, found.seen.wrong > 0) == (found.seen.beats - 1, True)
    assert "did not end within" in found.problem


@pytest.mark.parametrize("layer", ANY_LAYER)
def test_a_doubled_beat_names_the_layer(layer, diagnose):
    found = diagnose(layer=layer, what=DOUBLE, beat=20)
    assert (found.kind, found.layer, found.link) == ("layer", layer, f"{layer}_out0_V")
    assert found.seen.wrong > 0


@pytest.mark.parametrize("layer", ["StreamingDataWidthConverter_rtl_0", "StreamingDataWidthConverter_rtl_1"])
def test_two_channels_swapped_in_a_stream_name_the_layer_unless_they_are_equal(layer, diagnose, tensors, mlp):
    link = next(one for one in mlp.design.links if one.name == f"{layer}_out0_V")
    lanes = tensors[link.layout.tensor].reshape(-1, link.layout.lanes)
    differs = lanes[:, 0] != lanes[:, 1]
    beat = int(np.flatnonzero(differs)[0])
    found = diagnose(layer=layer, what=SWAP, beat=beat)
    assert (found.kind, found.layer, found.seen.wrong) == ("layer", layer, 2)
    assert (found.seen.first.expected, found.seen.first.found) == tuple(lanes[beat, :2])
    assert diagnose(layer=layer, what=SWAP, beat=int(np.flatnonzero(~differs)[0])).kind == "right"


@pytest.mark.parametrize("what", [DROP, DOUBLE])
def test_a_fifo_that_does_not_give_what_it_took_is_named(what, diagnose):
    found = diagnose(layer="fifo", what=what, beat=20)
    assert (found.kind, found.layer, found.link) == ("fifo", "", "StreamingDataWidthConverter_rtl_1_out0_V")
    assert str(found).startswith(
        "the FIFO of link 'StreamingDataWidthConverter_rtl_1_out0_V' is at fault: what goes into it is right, and at "
    )


@pytest.mark.parametrize("layer", ANY_LAYER)
def test_a_layer_that_never_gives_its_last_beat_is_named(layer, diagnose, mlp):
    link = next(one for one in mlp.design.links if one.name == f"{layer}_out0_V")
    last = FRAMES * link.layout.beats - 1
    found = diagnose(layer=layer, what=HANG, beat=last)
    assert (found.kind, found.layer, found.link) == ("stalled", layer, link.name)
    assert not found.standstill.circle
    lines = str(found).splitlines()
    assert lines[0] == (
        f"layer {layer!r} ({found.kernel}) is at fault: the design stands still after {found.cycles:,} cycles and 6 frames:"
    )
    beats = link.layout.beats
    assert (
        f"  {link.name!r} lacks beat {beats - 1} (of {beats}) of frame 5, {last} of {last + 1} moved: layer {layer!r} "
        "does not give it"
    ) in lines
    assert f"  layer {layer!r} waits for no beat and for no room, and does not give what is missing" in lines


def test_a_fifo_that_keeps_what_it_has_is_named(diagnose):
    found = diagnose(layer="fifo", what=HANG, beat=20)
    assert (found.kind, found.layer) == ("stalled", "")
    lines = str(found).splitlines()
    assert lines[0].startswith("the FIFO of link 'StreamingDataWidthConverter_rtl_1_out0_V' is at fault: ")
    assert "  the FIFO of 'StreamingDataWidthConverter_rtl_1_out0_V' holds 15 beats and gives none" in lines


def test_a_limit_that_is_too_low_is_no_standstill(diagnose):
    found = diagnose(limit=1800)
    assert found.kind == "slow"
    assert str(found).startswith(
        "beats still moved after 1,800 cycles, and all of them were right: set a higher limit\n"
    )


def test_links_without_golden_tensors_are_not_compared(faulty, mlp, tensors):
    only = {name: tensors[name] for name in ("global_out",)}
    name = "MVAU_rtl_0_memblock.dat"
    fault = {"memories": {name: changed(faulty.clean[name], 0, 1 << 23)}}
    found = faulty.diagnose(mlp.inputs(FRAMES), only, **fault)
    assert {state.source.values for state in found.links} == {0, 60}


@pytest.mark.slow
def test_a_design_is_built_with_probes_and_diagnosed(mlp, tensors, simulations):
    found = explain(mlp.design, mlp.inputs(FRAMES), lambda count: tensors)
    assert (found.kind, found.frames) == ("right", FRAMES)
