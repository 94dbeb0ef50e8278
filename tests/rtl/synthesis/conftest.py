"""Layers of FINN as pieces to synthesise; what is synthesised once serves all tests."""

from importlib.util import find_spec

import pytest

from brainsmith.rtl.library.sources import RtlSource
from brainsmith.rtl.stitching.codegen import generate_layers
from brainsmith.rtl.stitching.stitch import stitch
from brainsmith.rtl.synthesis.cells import cost
from brainsmith.rtl.synthesis.for_synthesis import altered_design
from brainsmith.rtl.synthesis.fpga_families import family_of
from brainsmith.rtl.synthesis.pieces import Piece, layer_pieces
from brainsmith.rtl.synthesis.yosys import map_piece, plan_job
from brainsmith.store.folders import KeptFolders

PART = "xczu7ev-ffvc1156-2-e"
TOOL = "Yosys of the tests"


@pytest.fixture(scope="session")
def store(kept_builds):
    """Where all tests, of all workers, keep what they synthesise."""
    if find_spec("pyosys") is None:
        pytest.skip("needs pyosys: pip install pyosys==0.70")
    return KeptFolders(kept_builds["synthesis"])


@pytest.fixture
def synthesised(store):
    """Return the cells of a piece, and what they cost."""

    def run(piece, part=PART):
        cells = map_piece(plan_job(piece, family_of(part), TOOL), store).cells
        return cells, cost(cells, piece.name)

    return run


@pytest.fixture
def design_of(tmp_path, library):
    """Stitch the model of one layer."""
    return lambda layer, part=PART: stitch(generate_layers(layer.model, tmp_path / "code", part))


@pytest.fixture
def piece_of(design_of, library):
    """Return the piece of a layer, its AXI-Lite tied as in a design."""
    return lambda layer, part=PART: layer_pieces(altered_design(design_of(layer, part), library))[0]


def verilog(text, top="top", memories=(), name="a piece"):
    """Return a piece of the tests' own."""
    return Piece(name, "test", top, (RtlSource(f"{top}.sv", text),), tuple(memories))
