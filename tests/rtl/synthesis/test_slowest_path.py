"""The slowest path of a netlist: it follows known chains, and stops at registers."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brainsmith.rtl.synthesis.cell_timing import timing_of
from brainsmith.rtl.synthesis.fpga_families import FAMILIES, family_of
from brainsmith.rtl.synthesis.slowest_path import slowest_path
from brainsmith.rtl.synthesis.yosys import map_piece, plan_job
from tests.rtl.synthesis.conftest import PART, TOOL, verilog

DELAYS = family_of(PART).delays
IN, OUT = {"I0": "input", "O": "output"}, {"C": "input", "D": "input", "Q": "output"}


def lut(source, target):
    return {"type": "LUT1", "connections": {"I0": [source], "O": [target]}, "port_directions": IN}


def register(source, target):
    return {"type": "FDRE", "connections": {"C": [2], "D": [source], "Q": [target]}, "port_directions": OUT}


def chain(luts):
    """A register, some LUTs one after the other, and a register: bits 10, 11, ..."""
    cells = {"from": register(9, 10), **{f"lut{at}": lut(10 + at, 11 + at) for at in range(luts)}}
    cells["to"] = register(10 + luts, 99)
    names = {"a": {"bits": [10]}, "b": {"bits": [99]}}
    return {"cells": cells, "ports": {}, "netnames": names}


@given(luts=st.integers(1, 40))
def test_each_lut_of_a_chain_is_a_level_and_takes_its_delay_and_a_wire(luts):
    path = slowest_path(chain(luts), DELAYS)
    ns = DELAYS.register + luts * (DELAYS.wire + DELAYS.lut) + DELAYS.setup  # the last is beside the register
    assert (path.levels, path.ns, path.cells) == (luts, pytest.approx(ns, abs=0.001), ["LUT1"] * luts)
    assert (path.start, path.end) == ("a", "b")
    assert path.fmax_mhz == pytest.approx(1000 / ns, rel=0.01)


def test_a_register_in_a_chain_ends_the_path():
    whole = chain(6)
    whole["cells"]["lut2"] = register(12, 13)
    assert slowest_path(whole, DELAYS).levels == 3


def test_a_wire_to_many_takes_longer():
    few, many = chain(2), chain(2)
    many["cells"] |= {f"more{at}": lut(11, 200 + at) for at in range(31)}
    assert slowest_path(many, DELAYS).ns - slowest_path(few, DELAYS).ns == pytest.approx(
        5 * DELAYS.wire_doubling
    )


def test_what_has_no_register_has_no_path():
    path = slowest_path({"cells": {}, "ports": {}, "netnames": {}}, DELAYS)
    assert (path.ns, path.levels, path.fmax_mhz, path.start) == (0, 0, None, "")


def test_a_loop_without_a_register_ends():
    loop = chain(3)
    loop["cells"]["lut1"]["connections"] |= {"I1": [13]}
    loop["cells"]["lut1"] |= {"type": "LUT2", "port_directions": {**IN, "I1": "input"}}
    assert slowest_path(loop, DELAYS).levels >= 3


@pytest.mark.parametrize(
    ("registers", "captured", "launched"),
    [
        ({}, DELAYS.setup, DELAYS.register),  # all are there
        ({"AREG": "0"}, DELAYS.multiply + DELAYS.setup, DELAYS.register),
        ({"AREG": "0", "MREG": "0"}, DELAYS.multiply + DELAYS.add + DELAYS.setup, DELAYS.register),
        ({"PREG": "0"}, DELAYS.setup, DELAYS.register + DELAYS.add),
        ({"PREG": "0", "MREG": "0"}, DELAYS.setup, DELAYS.register + DELAYS.multiply + DELAYS.add),
    ],
)
def test_registers_of_a_slice_cut_the_way_through_it(registers, captured, launched):
    pins, inputs = {"A": 30, "B": 18, "C": 48, "CLK": 1, "P": 48}, ["A", "B", "C", "CLK"]
    timing = timing_of("DSP48E2", pins, inputs, {"USE_MULT": "MULTIPLY", **registers}, DELAYS)
    assert timing.captures["A"] == pytest.approx(captured)
    assert timing.launches["P"] == pytest.approx(launched)


def test_a_slice_without_registers_is_passed_through():
    pins, inputs = {"A": 2, "P": 3}, ["A"]
    registers = dict.fromkeys(("AREG", "MREG", "PREG"), "0")
    timing = timing_of("DSP48E2", pins, inputs, registers, DELAYS)
    assert sum(arc.ns for arc in timing.arcs[:1] + timing.arcs[-1:]) == pytest.approx(
        DELAYS.multiply + DELAYS.add
    )
    assert "A" not in timing.captures


def adders(count, registered):
    """A sum of some numbers, one after the other, with a register behind each of them or only at the end."""
    kind = (
        "always @(posedge clk) s{0} <= s{1} + a[{2}+:16];"
        if registered
        else "always @* s{0} = s{1} + a[{2}+:16];"
    )
    lines = [f"reg [15:0] s{at};\n{kind.format(at, at - 1, 16 * at)}" for at in range(1, count)]
    return (
        f"module top(input clk, input [{16 * count - 1}:0] given, output reg [15:0] q);\nreg [{16 * count - 1}:0] a;\n"
        f"reg [15:0] s0;\nalways @(posedge clk) a <= given;\nalways @* s0 = a[15:0];\n"
        + "\n".join(lines)
        + f"\nalways @(posedge clk) q <= s{count - 1};\nendmodule\n"
    )


def path_of(text, store, part=PART):
    return map_piece(plan_job(verilog(text), family_of(part), TOOL), store).path


@pytest.mark.slow
def test_a_long_sum_without_registers_is_slower_the_longer_it_is(store):
    ns = [path_of(adders(count, registered=False), store).ns for count in (2, 4, 8)]
    assert ns[0] < ns[1] < ns[2]
    assert path_of(adders(8, registered=True), store).ns < 0.6 * ns[2]


@pytest.mark.slow
def test_its_ends_are_called_as_the_sources_call_them(store):
    path = path_of(adders(4, registered=False), store)
    assert path.start.startswith("a[")
    assert path.end.startswith("q[")
    assert "CARRY4" in path.cells


@pytest.mark.slow
@pytest.mark.parametrize("part", ["xc7z020clg400-1", "xcku040-ffva1156-2-e", PART])
def test_newer_families_are_faster(part, store):
    families = [family_of(name) for name in ("xc7z020clg400-1", "xcku040-ffva1156-2-e", PART)]
    times = [path_of(adders(4, registered=False), store, name).ns for name in ("xc7z020clg400-1", part)]
    assert times[1] <= times[0]
    assert sorted((family.mvau_ns for family in families), reverse=True) == [
        family.mvau_ns for family in families
    ]


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_the_delays_decide_what_a_result_is_kept_under(family):
    piece = verilog(adders(2, registered=True))
    slower = replace(family, delays=replace(family.delays, lut=1.0))
    assert plan_job(piece, family, TOOL).key() != plan_job(piece, slower, TOOL).key()
