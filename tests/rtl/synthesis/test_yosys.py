"""Running Yosys: what it refuses, what it must not lose, and what is kept."""

import json
import re
import sys

import pytest

from brainsmith.errors import BuildError, ToolError
from brainsmith.rtl.simulation.simulation_plan import DATA_FOLDER, Memory
from brainsmith.rtl.synthesis.cells import Resources
from brainsmith.rtl.synthesis.fpga_families import FAMILIES, family_of
from brainsmith.rtl.synthesis.pieces import needed
from brainsmith.rtl.synthesis.script import VENDOR_CELLS
from brainsmith.rtl.synthesis.worker import library, mended
from brainsmith.rtl.synthesis.yosys import Job, find_yosys, map_piece, plan_job
from brainsmith.store.folders import KeptFolders
from tests.rtl.synthesis.conftest import PART, TOOL, verilog

ADDER = "module top(input clk, input [7:0] a, output reg [7:0] q);\nalways @(posedge clk) q <= q + a;\nendmodule\n"
ROM = f"""module top(input clk, input [9:0] a, output reg [15:0] q);
reg [15:0] words [0:1023];
initial $readmemh("{DATA_FOLDER}/words.dat", words);
always @(posedge clk) q <= words[a];
endmodule
"""
ASYNCHRONOUS = """module top(input clk, input we, input [8:0] a, input d, output q);
reg words [0:511];
always @(posedge clk) if (we) words[a] <= d;
assign q = words[a];
endmodule
"""


@pytest.mark.slow
def test_a_register_of_eight_bits_has_eight_flip_flops(synthesised):
    _, used = synthesised(verilog(ADDER))
    assert used.ff == 8
    assert used.lut <= 8


@pytest.mark.slow
def test_memory_contents_are_loaded(synthesised):
    """A memory that holds one value throughout is no memory; a missing file would make it that."""
    random = "".join(f"{(at * 40503) % 65536:04x}\n" for at in range(1024))
    _, used = synthesised(verilog(ROM, memories=[Memory("words.dat", random)]))
    assert used.bram18 == 1
    _, used = synthesised(verilog(ROM, memories=[Memory("words.dat", "0000\n" * 1024)]))
    assert used.bram18 == 0


@pytest.mark.slow
def test_a_memory_whose_contents_are_missing_is_an_error(synthesised):
    with pytest.raises(BuildError) as caught:
        synthesised(verilog(ROM))
    assert str(caught.value).startswith(f"a piece cannot be synthesised; {TOOL} says:\n  hdl/top.sv:3:")


@pytest.mark.slow
def test_a_memory_of_512_words_that_is_read_at_once_can_be_mapped(synthesised):
    cells, used = synthesised(verilog(ASYNCHRONOUS))
    assert cells["RAM512X1S"] == 1
    assert used.lutram == used.lut == 8


def test_what_yosys_refuses_is_quoted_with_its_place(synthesised):
    with pytest.raises(BuildError) as caught:
        synthesised(
            verilog("module top(input a, output b);\nassign b = a +;\nendmodule\n", name="MVAU_rtl_3")
        )
    lines = str(caught.value).splitlines()
    assert lines[0] == f"MVAU_rtl_3 cannot be synthesised; {TOOL} says:"
    assert lines[1].startswith("  hdl/top.sv:2: ERROR: expected expression")
    assert lines[-1] == (
        "  if the place is in FINN's library, brainsmith/rtl/library/rules.yaml needs a rule for it; leave the step "
        "rtl_synthesise out (output: simulated) to build without"
    )


def test_a_module_that_is_not_there_is_an_error(synthesised):
    with pytest.raises(BuildError, match="unknown module 'lost'"):
        synthesised(verilog("module top(input a, output b);\nlost inner(.a(a), .b(b));\nendmodule\n"))


@pytest.mark.slow
def test_what_was_synthesised_is_not_done_again(tmp_path, monkeypatch, store):
    kept = KeptFolders(tmp_path / "kept")
    job = plan_job(verilog(ADDER, name="first"), family_of(PART), TOOL)
    first = map_piece(job, kept)
    monkeypatch.setattr("brainsmith.rtl.synthesis.yosys.run_python", None)
    again = plan_job(verilog(ADDER, name="second"), family_of(PART), TOOL)
    assert map_piece(again, kept) == first
    assert json.loads((kept.entry(job.key()) / "result.json").read_text())["cells"] == first.cells
    assert first.peak_mb < 1500


def test_the_key_depends_on_all_that_matters_and_on_no_name():
    def key(text=ADDER, part=PART, tool=TOOL, memories=(), name="a"):
        return plan_job(verilog(text, memories=memories, name=name), family_of(part), tool).key()

    others = [
        key(ADDER + "\n"), key(part="xc7z020"), key(tool="Yosys 1.0"), key(memories=[Memory("a.dat", "0\n")]),
        key(memories=[Memory("a.dat", "1\n")]),
    ]  # fmt: skip
    assert len({key(), *others}) == 1 + len(others)
    assert key(name="b") == key()


def test_without_pyosys_it_is_said_what_to_install(monkeypatch):
    class Blocked:
        @staticmethod
        def find_spec(name, path=None, target=None):
            if name == "pyosys":
                raise ModuleNotFoundError(name)

    monkeypatch.setattr(sys, "meta_path", [Blocked, *sys.meta_path])
    monkeypatch.delitem(sys.modules, "pyosys", raising=False)
    with pytest.raises(ToolError) as caught:
        find_yosys()
    assert str(caught.value) == (
        "no design can be synthesised: pyosys is missing\n  pip install pyosys==0.70"
    )


def test_a_crash_of_yosys_is_told(tmp_path, store):
    job = Job("MVAU_rtl_0", {}, (), TOOL, lutrams="no such library")
    with pytest.raises(BuildError, match=r"^MVAU_rtl_0 cannot be synthesised; Yosys of the tests says:\n"):
        map_piece(job, KeptFolders(tmp_path))


@pytest.mark.parametrize(
    "family",
    [
        family if family.name == "xcup" else pytest.param(family, marks=pytest.mark.slow)
        for family in FAMILIES
    ],
    ids=lambda family: family.name,
)
def test_an_adder_fits_every_family(family, synthesised):
    part = {"versal": "xcvc1902", "xc7": "xc7z020", "xcup": "xczu3eg", "xcu": "xcku040"}[family.name]
    assert synthesised(verilog(ADDER), part)[1].ff == 8


def black_boxes():
    """Return the inputs of each vendor cell, by the cell's name."""
    found = {}
    for name, ports in re.findall(
        r"^module (\w+) #\(.*?\n\) \(\n(.*?)\n\);", VENDOR_CELLS.read_text(), re.M | re.S
    ):
        inputs = re.sub(r"\[\d+:0\]|,|\binput\b", " ", ports.partition("output")[0])
        found[name] = inputs.split()
    return found


MANY_TURNS = """
module top(input [7:0] a, output logic [7:0] q);
always_comb for (int i = 0; i < 5000; i++) q[i % 8] = a[i % 8];
endmodule
"""

PAIR = """
module top(input clk, input signed [7:0] a, b, c, d, output logic signed [16:0] sum);
logic signed [7:0] first, second, third, fourth;
logic signed [15:0] one, other;
always_ff @(posedge clk) begin
    first <= a;
    second <= b;
    third <= c;
    fourth <= d;
    one <= first * second;
    other <= third * fourth;
    sum <= one + other;
end
endmodule
"""

GIVEN = """
module top(input clk, input [29:0] a, input [17:0] b, output logic [44:0] product);
logic [47:0] found;
DSP48E2 #(.AREG(0), .BREG(0), .MREG(0), .PREG(0)) slice (.CLK(clk), .A(a), .B(b), .P(found));
always_ff @(posedge clk) product <= found[44:0];
endmodule
"""


@pytest.mark.parametrize(
    "part",
    [PART, "xc7z020", *(pytest.param(part, marks=pytest.mark.slow) for part in ("xcku040", "xcvc1902"))],
)
def test_registers_and_an_addition_beside_multipliers_are_in_their_slices(part, synthesised):
    _, used = synthesised(verilog(PAIR), part)
    assert used == Resources(dsp=2)


def test_a_loop_of_many_turns_is_unrolled(synthesised):
    assert synthesised(verilog(MANY_TURNS))[1] == Resources()


def test_a_slice_of_the_sources_stays_as_it_is(synthesised):
    _, used = synthesised(verilog(GIVEN))
    assert used == Resources(dsp=1, ff=45)


@pytest.mark.slow
def test_each_vendor_cell_counts_as_a_black_box(synthesised):
    """All that is instantiated is found again: no black box is dropped."""
    parts = {"DSP48E1": "xc7z020", "DSP48E2": PART, "DSP58": "xcvc1902", "DSPFP32": "xcvc1902"}
    cells = black_boxes()
    for kind, part in parts.items():
        data, result = ("A", "P") if kind != "DSPFP32" else ("C", "FPA_OUT")
        nets = {"CLK": "clk", data: "a", result: "q"}
        ports = cells[kind]
        given = ", ".join(f".{port}({nets.get(port, 0)})" for port in [*ports, result])
        text = f"module top(input clk, input [29:0] a, output [31:0] q);\n{kind} one({given});\nendmodule\n"
        assert synthesised(verilog(text), part)[1].dsp == 1
    assert set(cells) == {"DSP48E1", "DSP48E2", "DSP58", "DSPFP32", "LUT6_2", "SRL16E"}


def test_another_yosys_than_the_one_that_is_known_is_refused():
    with pytest.raises(LookupError, match="Yosys has no cell RAMB99"):
        library("module RAMB1(a);\nendmodule\n", ["RAMB99"])
    with pytest.raises(LookupError, match=r"lutrams_xcu\.txt is of an unknown version"):
        mended('option "ABITS" 9 {\n abits 9;', "lutrams_xcu.txt")
    assert mended("anything", "lutrams_xc5v.txt") == "anything"


def test_only_what_is_needed_is_part_of_a_piece():
    one, two, three, four = (
        verilog(text, top).sources[0]
        for top, text in (
            ("top", "module top; middle m(); endmodule"),
            ("middle", "module middle; import p::*; endmodule"),
            ("p", "package p;\nendpackage"),
            ("other", "module other; endmodule"),
        )
    )
    assert needed(one, [two, three, four]) == (three, two, one)
