"""Registers of an ECP5 that become those inside of block RAMs and multipliers: which, and when they stay."""

import copy
import json

import pytest

from brainsmith.rtl.synthesis.lattice_registers import absorb_registers
from brainsmith.rtl.synthesis.script import lattice_script
from brainsmith.rtl.synthesis.yosys import Job, entry_of, find_yosys

CLOCK, ENABLE = 2, 3


def register(data, out, enable=ENABLE, **parameters):
    """A flip-flop from one net to another; without an enable if that is None."""
    pins = {"CLK": [CLOCK], "DI": [data], "LSR": ["0"], "Q": [out]}
    pins |= {"CE": [enable]} if enable else {}
    plain = {"CEMUX": "CE" if enable else "1", "CLKMUX": "CLK", "LSRMUX": "LSR", "REGSET": "RESET"}
    return cell("TRELLIS_FF", plain | parameters, pins, {"Q"})


def cell(kind, parameters, pins, outputs):
    directions = {name: "output" if name in outputs else "input" for name in pins}
    return {"type": kind, "parameters": parameters, "connections": pins, "port_directions": directions}


def module(outputs=(30, 31), **cells):
    """A netlist whose outputs are some nets."""
    ports = {"clk": {"direction": "input", "bits": [CLOCK]}, "en": {"direction": "input", "bits": [ENABLE]}}
    return {"ports": ports | {"out": {"direction": "output", "bits": list(outputs)}}, "cells": cells}


def ram(**pins):
    """A block RAM that gives nets 20 and 21."""
    parameters = {"REGMODE_A": "NOREG", "REGMODE_B": "NOREG", "CLKAMUX": "CLKA", "CLKBMUX": "CLKB"}
    given = {
        "CLKA": [CLOCK], "CLKB": ["0"], "OCEA": ["1"], "OCEB": ["0"], "RSTA": ["0"], "RSTB": ["0"], "DOA0": [20],
        "DOA1": [21], "DOA2": [99],
    }  # fmt: skip
    return cell("DP16KD", parameters, given | pins, {"DOA0", "DOA1", "DOA2"})


def product():
    """A multiplier of nets 10 (twice, as a sign) and 11 that gives nets 20 and 21."""
    pins = {"A0": [10], "A1": [10], "A2": ["0"], "B0": [11], "P0": [20], "P1": [21], "P2": [98]}
    return cell("MULT18X18D", {}, pins, {"P0", "P1", "P2"})


BEHIND = {"q0": register(20, 30), "q1": register(21, 31)}


def test_registers_behind_a_ram_are_its_own():
    circuit = module(ram=ram(), **BEHIND)
    absorb_registers(circuit)
    (one,) = circuit["cells"].values()
    assert (one["connections"]["DOA0"], one["connections"]["DOA1"]) == ([30], [31])
    assert (one["connections"]["OCEA"], one["parameters"]["REGMODE_A"]) == ([ENABLE], "OUTREG")


def test_registers_around_a_multiplier_are_its_own():
    before = {"a": register(4, 10), "b": register(5, 11)}
    circuit = module(product=product(), **before, **BEHIND)
    absorb_registers(circuit)
    (one,) = circuit["cells"].values()
    pins = one["connections"]
    assert [pins[name] for name in ("A0", "A1", "A2", "B0", "P0", "P1")] == [[4], [4], ["0"], [5], [30], [31]]
    assert [pins[name] for name in ("CLK0", "CE0", "RST0")] == [[CLOCK], [ENABLE], ["0"]]
    clocked = [name for name, value in one["parameters"].items() if value == "CLK0"]
    assert sorted(clocked) == ["REG_INPUTA_CLK", "REG_INPUTB_CLK", "REG_OUTPUT_CLK"]
    assert {one["port_directions"][name] for name in ("CLK0", "CE0", "RST0")} == {"input"}


def test_a_factor_that_others_read_keeps_its_register_for_them():
    circuit = module((30, 31, 10), product=product(), a=register(4, 10), b=register(5, 11), **BEHIND)
    absorb_registers(circuit)
    assert sorted(circuit["cells"]) == ["a", "product"]
    assert circuit["cells"]["product"]["connections"]["A0"] == [4]


OTHER = register(21, 31, enable=7)


@pytest.mark.parametrize(
    "cells",
    [
        {"ram": ram(), **BEHIND, "q1": OTHER},  # enabled differently
        {"ram": ram(), **BEHIND, "q1": register(21, 31, enable=None)},
        {"ram": ram(), **BEHIND, "q1": register(21, 31, REGSET="SET")},  # begins with 1
        {"ram": ram(), **BEHIND, "q1": register(21, 31, CEMUX="INV")},
        {"ram": ram(), **BEHIND, "q1": register(21, 31, CLKMUX="INV")},
        {"ram": ram(), **BEHIND, "q1": register(21, 31) | {"type": "OTHER"}},
        {"ram": ram(), **BEHIND, "more": register(21, 32)},  # an output goes elsewhere too
        {"ram": ram(CLKA=[8]), **BEHIND},  # another clock
        {"ram": ram(RSTA=[8]), **BEHIND},  # a reset
        {"product": product(), "a": register(4, 10), "b": register(5, 11, enable=7), **BEHIND, "q1": OTHER},
        {"product": product(), "a": register(4, 10), **BEHIND, "q1": OTHER},  # one factor alone
    ],
)
def test_what_the_cells_registers_cannot_stand_for_stays(cells):
    circuit = module(**copy.deepcopy(cells))
    before = copy.deepcopy(circuit)
    absorb_registers(circuit)
    assert circuit == before


def test_registers_of_factors_that_are_controlled_otherwise_than_those_of_the_product_stay():
    circuit = module(product=product(), a=register(4, 10, enable=7), b=register(5, 11, enable=7), **BEHIND)
    absorb_registers(circuit)
    assert sorted(circuit["cells"]) == ["a", "b", "product"]


NETLIST = "netlist.json"
TEXT = """module multiplied(input clk, input en, input [7:0] a, input [7:0] b, output reg [15:0] p);
reg [7:0] x, y;
always @(posedge clk) if (en) begin
    x <= a;
    y <= b;
    p <= x * y;
end
endmodule
"""


@pytest.mark.slow
def test_what_yosys_writes_is_read(store):
    files = {"multiplied.v": TEXT}
    commands = lattice_script("multiplied", list(files), NETLIST)
    job = Job("multiplied", files, commands, find_yosys(), keep=(NETLIST,))
    circuit = json.loads((entry_of(job, store) / NETLIST).read_text("utf-8"))["modules"]["multiplied"]
    kinds = [one["type"] for one in circuit["cells"].values()]
    assert (kinds.count("MULT18X18D"), kinds.count("TRELLIS_FF")) == (1, 32)
    absorb_registers(circuit)
    assert [one["type"] for one in circuit["cells"].values()] == ["MULT18X18D"]
