"""FINN's layers and FIFOs through Yosys: what must come out exactly, does."""

import re
from math import ceil

import numpy as np
import pytest

from brainsmith.rtl.stitching.design import DESIGN, End, Layout, Link
from brainsmith.rtl.synthesis.compute_core import expected_slices
from brainsmith.rtl.synthesis.for_synthesis import altered_design
from brainsmith.rtl.synthesis.pieces import fifo_piece
from tests.rtl.finn_layers import matrix_vector, thresholding, width_converter


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.mark.slow
def test_a_width_converter_is_logic_only(piece_of, synthesised, tmp_path):
    cells, used = synthesised(piece_of(width_converter(tmp_path / "layer")))
    assert (used.bram18, used.dsp, used.uram, used.lutram) == (0, 0, 0, 0)
    assert 20 <= used.lut <= 60
    assert 30 <= used.ff <= 80
    assert not any(kind.startswith("$") for kind in cells)


@pytest.mark.slow
def test_a_threshold_layer_is_loaded_with_its_thresholds(piece_of, synthesised, tmp_path, rng):
    """Without the contents nothing would depend on the input, and nearly all would be optimised away."""
    piece = piece_of(thresholding(tmp_path / "layer", rng))
    assert len(piece.memories) == 8
    rules = {name for source in piece.sources for name in source.rules}
    assert rules == {"thresholding-first-stage", "thresholding-output-queue"}
    _, used = synthesised(piece)
    assert (used.bram18, used.dsp) == (0, 0)
    assert 90 <= used.lut <= 220
    assert 100 <= used.ff <= 300
    assert used.lutram == 8  # the output queue: a bit of each of 2 results of 4 bits per LUT


@pytest.mark.slow
@pytest.mark.parametrize(
    ("part", "pe", "simd", "slices"),
    [
        ("xczu7ev-ffvc1156-2-e", 3, 4, 4),
        ("xczu7ev-ffvc1156-2-e", 12, 2, 6),
        ("xc7z020clg400-1", 4, 4, 8),
        ("xcvc1902-vsva2197-2MP-e-S", 4, 4, 4),
    ],
)
def test_a_matrix_vector_unit_has_exactly_its_slices(
    part, pe, simd, slices, piece_of, synthesised, tmp_path, rng
):
    layer = matrix_vector(tmp_path / "layer", rng, simd=simd, pe=pe, mem_mode="internal_decoupled")
    piece = piece_of(layer, part)
    (wrapper,) = [source.text for source in piece.sources if expected_slices(source.text) is not None]
    assert expected_slices(wrapper) == slices
    cells, used = synthesised(piece, part)
    assert used.dsp == slices
    assert [kind for kind in cells if kind.startswith("DSP")] == [
        {"xczu": "DSP48E2", "xc7z": "DSP48E1", "xcvc": "DSP58"}[part[:4]]
    ]


@pytest.mark.slow
def test_weights_lie_in_block_ram(piece_of, synthesised, tmp_path, rng):
    """32 words of 128 bits are LUTs' business, 256 words of 64 bits are a block RAM's of 36 Kbit."""
    layer = matrix_vector(tmp_path / "layer", rng, mw=64, mh=64, simd=8, pe=2, mem_mode="internal_decoupled")
    cells, used = synthesised(piece_of(layer))
    assert used.bram18 == 2
    assert used.dsp == layer.node.dsp_estimation("xczu7ev-ffvc1156-2-e") == 8
    assert {kind: count for kind, count in cells.items() if kind.startswith("RAMB")} == {"RAMB36E2": 1}


def fifo(library, depth, bits):
    """A FIFO of a design without layers."""
    from brainsmith.rtl.stitching.design import Design

    ends = End(DESIGN, "s_axis_0"), End(DESIGN, "m_axis_0")
    link = Link("link", *ends, bits, Layout("x", (1, 8), 1, bits, False), depth)
    sources = (library.read("fifo/hdl/fifo.sv"),)
    return fifo_piece(altered_design(Design("t", (), (link,), (), (), sources, ()), library), link)


@pytest.mark.parametrize(
    ("depth", "bits"),
    [pytest.param(2, 8, marks=pytest.mark.slow), (17, 8), pytest.param(33, 16, marks=pytest.mark.slow)],
)
@pytest.mark.slow
def test_a_shallow_fifo_is_a_shift_register_of_a_lut_per_bit(depth, bits, library, synthesised):
    """Its stages are no flip-flops: what is left of them is the output register, a pointer and two flags."""
    cells, used = synthesised(fifo(library, depth, bits))
    stages = max(depth - 1, 4)
    assert used.lutram == bits * ceil(stages / 32)
    assert cells.get("SRL16E" if stages <= 16 else "SRLC32E") == bits
    assert used.ff <= bits + 10
    assert used.bram18 == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("depth", "bits", "kind"), [(100, 16, "RAM"), (1000, 16, "RAMB18E2"), (3000, 16, "URAM288")]
)
def test_a_deep_fifo_is_a_memory(depth, bits, kind, library, synthesised):
    cells, used = synthesised(fifo(library, depth, bits))
    assert any(re.match(kind, cell) for cell in cells)
    assert used.ff < 120
    assert used.lutram == {"RAM": used.lutram, "RAMB18E2": 0, "URAM288": bits}[kind]  # UltraRAM needs a queue
