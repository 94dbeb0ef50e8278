"""Models of what FINN's layers need: beside what Yosys made of some 500 of them, which are kept with the benchmark."""

import json
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brainsmith.plugin.adapters.finn_runtime import prepare_finn
from brainsmith.rtl.resource_models.makings import delay
from brainsmith.rtl.resource_models.memories import (
    AUTO,
    BLOCK,
    DISTRIBUTED,
    ONE_PORT,
    ROM,
    TWO_PORTS,
    mapped_memory,
)

prepare_finn()
sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks"))

from calibration_points import POINTS, point  # noqa: E402
from qonnx.custom_op.registry import getCustomOp  # noqa: E402

from brainsmith.rtl.cores.trial import Case, make_model  # noqa: E402
from brainsmith.rtl.resource_models import drift  # noqa: E402
from brainsmith.rtl.resource_models.finn_cores import CORES  # noqa: E402
from brainsmith.rtl.resource_models.finn_parameters import parameters_of  # noqa: E402
from brainsmith.rtl.resource_models.finn_streams import rotation  # noqa: E402
from brainsmith.rtl.resource_models.layer_needs import layer_needs  # noqa: E402
from brainsmith.rtl.resource_models.resource_model import coefficients, has_model, needs  # noqa: E402
from brainsmith.rtl.synthesis.fpga_families import family_of  # noqa: E402

KEPT = Path(__file__).parents[3] / "benchmarks" / "calibration"


def layer(kernel, attributes):
    return getCustomOp(Case(kernel, [((1,), "INT4")], attributes).node(0))


WIRES = "Reshape_rtl"
LOGIC = sorted(set(CORES) - {WIRES})


@cache
def synthesised(kernel):
    """Return parameters, family and figures of each layer of a kernel that was synthesised."""
    found = []
    for drawn in (name for name in POINTS if name.split()[0] == kernel):
        for row in map(json.loads, (KEPT / f"{drawn}.jsonl").read_text("utf-8").splitlines()):
            held = point(drawn, row["point"]).constants
            attribute = layer(kernel, row["attributes"]).get_nodeattr
            parameters = parameters_of(kernel, attribute, held=held[0][0] if held else None)
            found.append((parameters, family_of(row["part"]).name, row["used"]))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("kernel", LOGIC)
def test_block_rams_and_slices_are_exact_and_logic_is_near(kernel):
    layers = [each for each in synthesised(kernel) if has_model(kernel, each[1])]
    found = [(needs(kernel, parameters, family), used) for parameters, family, used in layers]
    assert len(found) >= 30
    exact = ("bram18", "dsp", "uram")
    wrong = [(told, used) for told, used in found if any(getattr(told, kind) != used[kind] for kind in exact)]
    assert wrong == []
    for kind in ("lut", "ff"):
        shares = [
            abs(getattr(told, kind) - used[kind]) / used[kind] for told, used in found if used[kind] >= 100
        ]
        assert np.median(shares) < 0.10
        assert np.percentile(shares, 95) < 0.25


FOLDED = {
    "VVAU_rtl": (("PE", "Channels"),),
    "MVAU_rtl": (("SIMD", "MW"), ("PE", "MH")),
    "Thresholding_rtl": (("PE", "NumChannels"),),
    "ConvolutionInputGenerator_rtl": (("SIMD", "IFMChannels"),),
    "FMPadding_rtl": (("SIMD", "NumChannels"),),
}


@pytest.mark.slow
@pytest.mark.parametrize("kernel", FOLDED)
def test_foldings_together_are_as_each_alone(kernel):
    parameters, family, _ = next(
        each
        for each in synthesised(kernel)
        if not each[0].get("parallel_window") and each[0][FOLDED[kernel][0][1]] % 4 == 0
    )
    random = np.random.default_rng(0)
    chosen = {}
    for name, whole in FOLDED[kernel]:
        divisors = [each for each in range(1, parameters[whole] + 1) if parameters[whole] % each == 0]
        chosen[name] = random.choice(divisors, 50)
    together = needs(kernel, {**parameters, **chosen}, family)
    for at in range(50):
        alone = needs(
            kernel, {**parameters, **{name: int(values[at]) for name, values in chosen.items()}}, family
        )
        assert [int(each[at]) for each in together] == list(map(int, alone))


@pytest.mark.parametrize(
    ("memory", "lut", "ff", "bram18"),
    [
        ((64, 96, ONE_PORT, AUTO), 96, 0, 0),
        ((32, 384, ONE_PORT, DISTRIBUTED), 192, 0, 0),  # RAM32M16: two bits a LUT
        ((16, 88, ONE_PORT, AUTO), 48, 0, 0),
        ((192, 24, ONE_PORT, AUTO), 0, 0, 1),
        ((465, 252, ONE_PORT, DISTRIBUTED), 2016, 0, 0),  # RAM512X1S
        ((270, 216, ONE_PORT, DISTRIBUTED), 1080, 0, 0),  # five RAM64X1S, and multiplexers
        ((9472, 32, ONE_PORT, BLOCK), 0, 0, 20),
        ((4752, 20, ONE_PORT, BLOCK), 0, 0, 8),
        ((8, 28, TWO_PORTS, AUTO), 16, 0, 0),
        ((128, 40, TWO_PORTS, AUTO), 96, 0, 0),
        ((833, 36, TWO_PORTS, AUTO), 0, 0, 2),
        ((1, 12, TWO_PORTS, AUTO), 0, 12, 0),
        ((50, 16, ROM, AUTO), 16, 0, 0),
        ((1024, 16, ROM, AUTO), 0, 0, 1),
        ((1024, 16, ROM, DISTRIBUTED), 256, 0, 0),
    ],
)
def test_memories_of_ultrascale(memory, lut, ff, bram18):
    """The first eight are what Yosys made of memories of weights."""
    found = mapped_memory(*memory, "xcup")
    assert (int(found.lut), int(found.ff), int(found.bram18)) == (lut, ff, bram18)


sizes = st.tuples(st.integers(1, 20_000), st.integers(1, 600))


@given(
    st.lists(sizes, min_size=1, max_size=9),
    st.sampled_from([ROM, ONE_PORT, TWO_PORTS]),
    st.sampled_from([AUTO, BLOCK]),
)
def test_a_memory_holds_all_its_bits(memories, ports, style):
    words, bits = map(np.array, zip(*memories, strict=True))
    for family in ("xc7", "xcup"):
        found = mapped_memory(words, bits, ports, style, family)
        in_blocks = found.bram18 > 0
        assert (found.bram18 * 18 * 1024 >= words * bits)[in_blocks].all()
        assert in_blocks.all() or style == AUTO
        assert (found.lut * 64 + found.ff >= words * bits)[~in_blocks & (words > 1)].all()


def test_layers_that_have_no_model():
    width = {"MW": 16, "MH": 8, "SIMD": 4, "PE": 2, "inputDataType": "INT4", "weightDataType": "INT4",
             "outputDataType": "INT12", "accDataType": "INT12", "noActivation": 1}  # fmt: skip
    modelled = layer("MVAU_rtl", width | {"mem_mode": "internal_decoupled"})
    assert parameters_of("MVAU_rtl", modelled.get_nodeattr)["sum_bits"] == 12
    for other in ({"mem_mode": "external"}, {"ram_style": "ultra"}, {"pumpedCompute": 1}):
        attributes = width | {"mem_mode": "internal_decoupled"} | other
        assert parameters_of("MVAU_rtl", layer("MVAU_rtl", attributes).get_nodeattr) is None
    assert parameters_of("Pool_rtl", modelled.get_nodeattr) is None
    assert has_model("MVAU_rtl", "xcup")
    assert has_model("VVAU_rtl", "versal")
    assert has_model("MVAU_rtl", "versal")
    assert not has_model("VVAU_rtl", "xcup")
    assert not has_model("Pool_rtl", "xcup")


@pytest.mark.parametrize(
    ("stages", "lut", "ff"),
    [
        (1, 0, 1),
        (2, 0, 2),
        (4, 1, 0),
        (16, 1, 0),
        (17, 1, 1),
        (32, 1, 0),
        (33, 1, 1),
        (48, 2, 0),
        (49, 2, 1),
        (64, 2, 0),
    ],
)
def test_chains_of_registers_are_shift_registers(stages, lut, ff):
    """As Yosys made them in sliding windows: a stage more than 16 or 32 is a register."""
    assert (int(delay(stages).lut), int(delay(stages).ff)) == (lut, ff)


def test_a_window_at_once_has_shift_registers_between_all_its_rows():
    """As Yosys made 3 x 128 shift registers and 128 registers of values in this one, besides 45 of its counters."""
    attributes = {
        "ConvKernelDim": [2, 2], "IFMChannels": 128, "IFMDim": [5, 12], "OFMDim": [2, 11], "SIMD": 32, "Stride": [2, 1],
        "Dilation": [1, 1], "depthwise": 1, "parallel_window": 1, "inputDataType": "UINT4", "outputDataType": "UINT4",
        "ram_style": "block",
    }  # fmt: skip
    parameters = parameters_of(
        "ConvolutionInputGenerator_rtl", layer("ConvolutionInputGenerator_rtl", attributes).get_nodeattr
    )
    made = CORES["ConvolutionInputGenerator_rtl"](parameters, "xcup")
    assert (int(made.memory.lut), int(made.ff["held values"]), int(made.ff["lines"])) == (384, 128, 0)
    assert abs(int(needs("ConvolutionInputGenerator_rtl", parameters, "xcup").ff) - 173) < 9


@pytest.mark.parametrize(("parts", "pruned", "in_full"), [((2, 1), 2, 6), ((4, 1), 12, 20), ((5, 1), 15, 35)])
def test_a_rotation_builds_each_multiplexer_once(parts, pruned, in_full):
    """Two parts: each place chooses one or the other; in full there is also one before, of each with nothing."""
    assert rotation(*parts, pruned=True) == pruned
    assert rotation(*parts, pruned=False) == in_full


@pytest.mark.parametrize(("taken", "given", "ff"), [(45, 1, 54), (1, 64, 73), (16, 8, 32)])
def test_width_converters_of_single_bits_are_shift_registers(taken, given, ff):
    assert needs("StreamingDataWidthConverter_rtl", {"taken": taken, "given": given}, "xcup").ff == ff


def thresholds(values, lanes, bits=12):
    kind = f"INT{bits}"
    attributes = {
        "NumChannels": len(values), "PE": lanes, "numSteps": values.shape[1], "inputDataType": kind,
        "weightDataType": kind, "outputDataType": "UINT3", "ActVal": 0, "numInputVectors": [1],
    }  # fmt: skip
    return Case("Thresholding_rtl", [((1, len(values)), kind)], attributes, constants=[(values, kind)])


def needed(case, part="xczu7ev-ffvc1156-2-e", foldings=None):
    model = make_model([case])
    return layer_needs(getCustomOp(model.graph.node[0]), part, model, foldings)


def test_thresholds_that_share_bits_need_fewer_luts():
    """Random ones share nothing; multiples of 256 have eight bits that are 0, and equal channels need no counter."""
    drawn = np.sort(np.random.default_rng(0).integers(-2048, 2048, (48, 7)), axis=1)
    random, coarse, alike = (
        needed(thresholds(values, 4))
        for values in (drawn, drawn // 256 * 256, np.broadcast_to(drawn[:1], drawn.shape))
    )
    unknown = needs("Thresholding_rtl", parameters_of(
        "Thresholding_rtl", getCustomOp(thresholds(drawn, 4).node(0)).get_nodeattr), "xcup")  # fmt: skip
    assert abs(random.lut - unknown.lut) < 0.1 * unknown.lut
    assert max(alike.lut, coarse.lut) < 0.8 * random.lut
    assert alike.ff < coarse.ff < random.ff


def test_evenly_spaced_thresholds_share_tables_of_the_channel():
    """Apart by a power of two, their lower bits are the channel's alone; uneven ones of the same range share nothing."""
    first = np.random.default_rng(0).integers(-700, -300, (64, 1))
    even = first + 32 * np.arange(15)
    uneven = np.sort(first + np.random.default_rng(1).integers(0, 480, (64, 15)), axis=1)
    assert needed(thresholds(even, 1)).lut < 0.7 * needed(thresholds(uneven, 1)).lut


def test_tables_of_the_channel_are_built_once_for_all_lanes():
    """Apart by 256, the eight lower bits of a channel's thresholds are one; the first layer's lanes have the same ones."""
    first = np.random.default_rng(0).integers(-1024, -768, (16, 1))
    steps = 256 * np.arange(7)
    lanes = np.repeat(first, 4, axis=0) + steps  # of the channels in each fold
    other = np.random.default_rng(1).permuted(lanes, axis=0)
    assert needed(thresholds(lanes, 4)).lut < needed(thresholds(other, 4)).lut
    assert needed(thresholds(lanes, 4)).ff < needed(thresholds(other, 4)).ff


@pytest.mark.parametrize(
    ("channels", "loose"), [(32, False), (36, True), (61, False), (62, False), (64, True)]
)
def test_tables_whose_counter_is_part_of_them_are_loose(channels, loose):
    """Of 10 bits each, in a stage: Yosys makes a LUT of each, or of every 16 words of it."""
    values = np.random.default_rng(0).permutation(1024)[:channels, None] - 512
    tables = 10 * (channels / 16 if loose else 1)
    assert (
        abs(needed(thresholds(values, 1, 10)).lut - needed(thresholds(values[:1], 1, 10)).lut - tables) < 10
    )


def test_tables_that_are_alike_are_stored_for_each_channel_in_block_ram():
    """Yosys sees that tables of logic repeat, and not that those of block RAM do: of 32 channels it made 3 block RAMs."""
    values = np.arange(1, 256)[None] * 7 // 10
    assert needed(thresholds(np.broadcast_to(values, (32, 255)), 1, 10)).bram18 == 3
    assert needed(thresholds(np.broadcast_to(values[:, :15], (32, 15)), 1, 10)).bram18 == 0


def test_known_thresholds_are_counted_for_all_foldings_at_once():
    drawn = np.sort(np.random.default_rng(0).integers(-40, 40, (24, 7)), axis=1)
    lanes = np.array([1, 2, 3, 4, 6, 8, 12, 24] * 3)
    together = needed(thresholds(drawn, 1), foldings={"PE": lanes})
    for at, count in enumerate(lanes):
        assert [int(each[at]) for each in together] == list(map(int, needed(thresholds(drawn, int(count)))))


def test_a_backend_that_states_its_resources_is_asked_once_for_foldings_that_are_alike(monkeypatch):
    case = point("LabelSelect_rtl", 0)
    node = case.node(0)
    asked = []
    stated = type(getCustomOp(node)).core_resources
    monkeypatch.setattr(
        type(getCustomOp(node)),
        "core_resources",
        lambda self, family: asked.append(1) or stated(self, family),
    )
    lanes = np.array([1, 2, 4, 8] * 1000)
    found = needed(case, foldings={"PE": lanes})
    assert len(asked) == 4
    assert found.lut.shape == found.ff.shape == (4000,)
    assert found.lut[3] > found.lut[0]
    assert (found.lut[:4] == found.lut[4:8]).all()


@pytest.mark.parametrize(
    ("depth", "bits", "family", "memory"),
    [
        (33, 8, "xcup", (0, 0)), (64, 8, "xcup", (0, 0)), (257, 64, "xcup", (0, 0)), (300, 16, "xcup", (1, 0)),
        (3427, 52, "xcup", (0, 1)), (9449, 14, "xcup", (2, 1)), (3000, 4, "xc7", (2, 0)), (3427, 52, "xc7", (14, 0)),
    ],
)  # fmt: skip
def test_memories_of_fifos(depth, bits, family, memory):
    """The first six are what Yosys made of them."""
    found = needs("StreamingFIFO_rtl", {"depth": depth, "bits": bits}, family)
    assert (int(found.bram18), int(found.uram)) == memory


def test_a_reshape_is_wires():
    parameters = parameters_of(
        "Reshape_rtl", getCustomOp(Case("Reshape_rtl", [], {}, 0).node(0)).get_nodeattr
    )
    assert list(map(int, needs("Reshape_rtl", parameters, "xc7"))) == [0, 0, 0, 0, 0]


def test_coefficients_of_another_yosys_are_said_with_how_far_its_figures_are(monkeypatch):
    kept = {"MVAU_rtl": {"lut": 1000, "ff": 1000}, "FMPadding_rtl": {"lut": 40, "ff": 50}}
    monkeypatch.setattr(drift, "coefficients", lambda: {"tool": "Yosys 0.60", "fixed layers": kept})
    now = {"MVAU_rtl": {"lut": 1010, "ff": 1000}, "FMPadding_rtl": {"lut": 44, "ff": 50}}
    monkeypatch.setattr(drift, "fixed_layers", lambda: now)
    assert drift.drift_note("Yosys 0.60") == ""
    assert drift.drift_note("Yosys 0.70") == (
        "Estimates were calibrated with Yosys 0.60, and this is Yosys 0.70: of 2 fixed layers its LUTs and flip-flops "
        "differ by 0.5 % at the median and 10.0 % at most. `python benchmarks/calibrate.py synthesise` and `fit` "
        "calibrate anew"
    )


@pytest.mark.slow
def test_the_fixed_layers_are_as_kept():
    assert drift.fixed_layers() == coefficients()["fixed layers"]
    assert drift.drift_note() == ""
