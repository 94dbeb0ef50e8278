"""Each rule for synthesis is needed and enough for slang, and is not part of what is simulated."""

import pytest

from brainsmith.errors import BuildError, RtlSourceError
from brainsmith.rtl.library.rules import RULES, SYNTHESIS_RULES
from brainsmith.rtl.library.sources import Library
from brainsmith.rtl.stitching.design import Design
from brainsmith.rtl.synthesis.for_synthesis import altered_design
from brainsmith.rtl.synthesis.fpga_families import family_of
from brainsmith.rtl.synthesis.pieces import Piece
from brainsmith.rtl.synthesis.yosys import map_piece, plan_job
from tests.rtl.synthesis.conftest import PART, TOOL, store  # noqa: F401

FIFO = "fifo #(.DEPTH(4), .DATA_WIDTH(4)) one(.clk(clk), .rst(a[0]), .idat(a), .ivld(a[1]), .ordy(a[2]), .odat(q));"
MVU = """mvu #(.VERSION(2), .PE(2), .SIMD(2), .WEIGHT_WIDTH(4), .ACTIVATION_WIDTH(4), .ACCU_WIDTH(12)) one(
    .clk(clk), .rst(a[0]), .en(a[1]), .last(a[2]), .zero(a[3]), .w({4{a}}), .a({2{a}}), .p(q));"""
THRESHOLDS = """thresholding #(.K(4), .N(7), .C(1), .PE(1)) one(.clk(clk), .rst(a[0]), .cfg_en(a[1]), .cfg_we(a[2]),
    .cfg_a(a[2:0]), .cfg_d(a), .ivld(a[3]), .iset(1'b0), .idat(a), .ordy(a[0]), .odat(q));"""
NEEDED = {
    "default-nettype-inside": (FIFO, ("fifo/hdl/fifo.sv",), "directive is not allowed inside a design element"),
    "startup-watch": (MVU, ("mvu/mvu_pkg.sv", "mvu/mvu.sv", "mvu/add_multi.sv"), "non-blocking assignments unsupported"),
    "thresholding-first-stage": (THRESHOLDS, ("thresholding/hdl/thresholding.sv",), "unsynthesizable feature"),
}  # fmt: skip


def read(library, files, body, leave_out=""):
    """Synthesise an instance with all rules, or all but one."""
    rules = [rule for rule in SYNTHESIS_RULES if rule.name != leave_out]
    reader = Library(library.folder, library.version, (*RULES, *rules))
    sources = [reader.read(file) for file in files]
    top = f"module top(input clk, input [3:0] a, output [23:0] q);\n{body}\nendmodule\n"
    sources.append(type(sources[0])("top.sv", top))
    return Piece("a piece", "test", "top", tuple(sources), ())


@pytest.mark.parametrize("name", ["thresholding-first-stage", "default-nettype-inside", "startup-watch"])
@pytest.mark.slow
def test_a_rule_is_needed_and_enough(name, library, store):  # noqa: F811
    body, files, complaint = NEEDED[name]
    with pytest.raises(BuildError, match=complaint):
        map_piece(plan_job(read(library, files, body, leave_out=name), family_of(PART), TOOL), store)
    assert map_piece(plan_job(read(library, files, body), family_of(PART), TOOL), store).cells


@pytest.mark.parametrize(("rule", "file"), [(rule, file) for rule in SYNTHESIS_RULES for file in rule.files])
def test_a_rule_finds_its_place_in_the_installed_library_and_says_so_where_it_does_not(rule, file, library):
    before = (library.folder / file).read_text()
    assert rule.apply(file, before, "x") != before
    with pytest.raises(RtlSourceError, match=rf"rule '{rule.name}' must match .* in {file}, but matches 0"):
        rule.apply(file, "module something_else; endmodule\n", "finn-plus 9.9")


def test_names_of_rules_are_distinct():
    assert len({rule.name for rule in (*RULES, *SYNTHESIS_RULES)}) == len(RULES) + len(SYNTHESIS_RULES)


def test_only_the_librarys_own_files_are_altered_and_the_design_that_is_simulated_is_not(library):
    fifo = library.read("fifo/hdl/fifo.sv")
    own = type(fifo)("fifo.sv", "module fifo; endmodule\n")
    for source in (fifo, own):
        design = Design("top", (), (), (), (), (source,), ())
        (after,) = altered_design(design, library).sources
        assert design.sources == (source,)
        assert (after == source) == (source is own)
    assert "default-nettype-inside" not in fifo.rules
