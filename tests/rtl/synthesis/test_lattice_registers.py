"""Registers of an ECP5 that become those inside of block RAMs and multipliers: which, and when they stay."""

import copy
import json
from random import Random

import pytest

from brainsmith.rtl.synthesis.lattice_registers import absorb_registers
from brainsmith.rtl.synthesis.script import lattice_script
from brainsmith.rtl.synthesis.yosys import Job, entry_of, find_yosys

CLOCK, ENABLE = 2, 3


def register(data, out, enable=ENABLE, **parameters):
    """A flip-flop from one net to another; without an enable if that is None."""
    pins = {"CLK": [CLOCK], "DI": [data], "LSR": ["0"], "Q": [out]}
    pins |= {"CE": [enable]} if enable else {}
    plain = {"CEMUX": "CE" if enable else "1 ", "CLKMUX": "CLK", "LSRMUX": "LSR", "REGSET": "RESET"}
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


def synthesised(text, store):
    """The netlist of the module `multiplied`."""
    files = {"multiplied.v": text}
    commands = lattice_script("multiplied", list(files), NETLIST)
    job = Job("multiplied", files, commands, find_yosys(), keep=(NETLIST,))
    return json.loads((entry_of(job, store) / NETLIST).read_text("utf-8"))["modules"]["multiplied"]


ALWAYS_ENABLED = TEXT.replace("if (en) ", "")


@pytest.mark.slow
@pytest.mark.parametrize("text", [TEXT, ALWAYS_ENABLED], ids=["enabled", "always enabled"])
def test_what_yosys_writes_is_read(text, store):
    circuit = synthesised(text, store)
    kinds = [one["type"] for one in circuit["cells"].values()]
    assert (kinds.count("MULT18X18D"), kinds.count("TRELLIS_FF")) == (1, 32)
    absorb_registers(circuit)
    assert [one["type"] for one in circuit["cells"].values()] == ["MULT18X18D"]


WIDE = """module multiplied(input clk, input en, input signed [13:0] a, input signed [31:0] b, output reg [45:0] q);
reg signed [13:0] x;
reg signed [31:0] y;
reg signed [45:0] p;
always @(posedge clk) if (en) begin
    x <= a;
    y <= b;
    p <= x * y;
    q <= BEHIND;
end
endmodule
"""
FOLLOWED = WIDE.replace("BEHIND", "p")
ENABLED_OTHERWISE = FOLLOWED.replace("    p <=", "end\nalways @(posedge clk) if (a[0]) begin\n    p <=")


@pytest.mark.slow
def test_a_register_behind_a_sum_of_products_is_moved_before_it(store):
    circuit = synthesised(FOLLOWED, store)
    expected = outputs(circuit)
    absorb_registers(circuit)
    products = [one for one in circuit["cells"].values() if one["type"] == "MULT18X18D"]
    assert len(products) == 2
    assert all(one["parameters"].get("REG_OUTPUT_CLK") == "CLK0" for one in products)
    assert outputs(circuit) == expected


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        WIDE.replace("BEHIND", "p + 1"),  # no register follows
        ENABLED_OTHERWISE,
        FOLLOWED.replace("x * y", "x * y + y"),  # more than the product
        FOLLOWED.replace("p <= x * y", "p <= b[0] ? 0 : x * y"),  # or another value
    ],
    ids=["not followed", "enabled otherwise", "more", "chosen"],
)  # fmt: skip
def test_what_else_is_behind_a_sum_computes_the_same(text, store):
    circuit = synthesised(text, store)
    expected = outputs(circuit)
    absorb_registers(circuit)
    assert outputs(circuit) == expected


def test_what_is_not_only_a_sum_of_products_stays():
    added = {f"{port}{at}": ["0"] for port in "ABC" for at in "01"} | {"D0": ["1"], "D1": ["1"], "CIN": ["0"]}
    plain = {"INIT0": "1001011010101010", "INIT1": "1001011010101010", "INJECT1_0": "NO", "INJECT1_1": "NO"}
    pins = added | {"A0": [20], "B0": [21], "S0": [40]}

    def summed(changed=(), parameters=plain, **more):
        adder = cell("CCU2C", parameters, pins | dict(changed), {"S0"})
        return module(
            (51,), product=product(), sum=adder, first=register(40, 50), second=register(50, 51), **more
        )

    moved = summed()
    absorb_registers(moved)
    assert sorted(moved["cells"]) == ["product", "second", "sum"]
    assert moved["cells"]["product"]["parameters"]["REG_OUTPUT_CLK"] == "CLK0"
    late = {"more": register(50, 52, 7), "other": register(20, 61, 7)}
    for stays in (
        summed({"A1": ["1"]}), summed({"CIN": ["1"]}), summed({"C0": ["1"]}), summed({"A1": [60]}),
        summed(parameters=plain | {"INIT1": "0" * 16}), summed(more=register(40, 51)), summed(**late),
        module((40,), product=product(), sum=cell("CCU2C", plain, pins, {"S0"})),
    ):  # fmt: skip
        before = copy.deepcopy(stays)
        absorb_registers(stays)
        assert stays == before


def outputs(circuit, cycles=40):
    """What a netlist of flip-flops, multipliers, adders and LUTs gives in each cycle, for random inputs."""
    random, state, given = Random(1), {}, []
    driven = {
        bits[0]: name for name, one in circuit["cells"].items() for port, bits in one["connections"].items()
        if one["port_directions"][port] == "output"
    }  # fmt: skip
    entering = [
        bit for port in circuit["ports"].values() if port["direction"] == "input" for bit in port["bits"]
    ]
    leaving = [
        bit for port in circuit["ports"].values() if port["direction"] == "output" for bit in port["bits"]
    ]
    for _ in range(cycles):
        cycle = Cycle(circuit["cells"], driven, {bit: random.getrandbits(1) for bit in entering}, state)
        given.append([cycle.value(bit) for bit in leaving])
        state = cycle.next_state()
    return given


class Cycle:
    """One cycle of a netlist: the value of each net, and the state that follows."""

    def __init__(self, cells, driven, values, state):
        self.cells, self.driven, self.state = cells, driven, state
        self.values = {"0": 0, "1": 1, "x": 0} | values

    def value(self, net):
        if net not in self.values:
            name = self.driven[net]
            one = self.cells[name]
            for port, bit in self.computed(name, one).items():
                if port in one["connections"]:
                    self.values[one["connections"][port][0]] = bit
        return self.values[net]

    def pin(self, one, port):
        return self.value(one["connections"].get(port, ["0"])[0])

    def computed(self, name, one):
        kind = one["type"]
        if kind == "TRELLIS_FF":
            return {"Q": self.state.get(name, 0)}
        if kind == "MULT18X18D":
            registered = "REG_OUTPUT_CLK" in one["parameters"]
            number = self.state.get((name, "P"), 0) if registered else self.product(name, one)
            return {f"P{at}": number >> at & 1 for at in range(36)}
        if kind == "CCU2C":
            return self.added(one)
        if kind == "PFUMX":
            return {"Z": self.pin(one, "ALUT" if self.pin(one, "C0") else "BLUT")}
        address = sum(self.pin(one, port) << at for at, port in enumerate("ABCD"))
        assert kind == "LUT4", kind
        return {"Z": int(one["parameters"]["INIT"], 2) >> address & 1}

    def added(self, one):
        carry, found = self.pin(one, "CIN"), {}
        for at in "01":
            table = int(one["parameters"][f"INIT{at}"], 2)
            address = sum(self.pin(one, f"{port}{at}") << place for place, port in enumerate("ABCD"))
            chosen = table >> address & 1
            found[f"S{at}"] = chosen ^ carry
            carry = carry if chosen else table >> (address & 3) & 1
        return found | {"COUT": carry}

    def factor(self, name, one, side):
        if f"REG_INPUT{side}_CLK" in one["parameters"]:
            return self.state.get((name, side), 0)
        return self.entering(one, side)

    def entering(self, one, side):
        number = sum(self.pin(one, f"{side}{at}") << at for at in range(18))
        return number - (number >> 17 << 18) * self.pin(one, f"SIGNED{side}")

    def product(self, name, one):
        return self.factor(name, one, "A") * self.factor(name, one, "B")

    def next_state(self):
        after = dict(self.state)
        for name, one in self.cells.items():
            if one["type"] == "TRELLIS_FF":
                enabled = {"CE": self.pin(one, "CE"), "INV": not self.pin(one, "CE")}
                if enabled.get(one["parameters"].get("CEMUX", "1"), True):
                    after[name] = self.pin(one, "DI")
            elif one["type"] == "MULT18X18D" and self.pin(one, "CE0"):
                after[name, "P"] = self.product(name, one)
                after |= {(name, side): self.entering(one, side) for side in "AB"}
        return after
