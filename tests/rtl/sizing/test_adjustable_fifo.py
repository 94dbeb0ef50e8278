"""The adjustable FIFO against FINN's own, side by side in one module, cycle by cycle."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brainsmith.rtl.library.sources import RtlSource
from brainsmith.rtl.simulation.beats import pack
from brainsmith.rtl.simulation.simulation_plan import SimulationPlan
from brainsmith.rtl.simulation.simulator_build import build_simulator
from brainsmith.rtl.simulation.stalls import Stalls
from brainsmith.rtl.sizing.adjustable import SOURCE
from brainsmith.rtl.sizing.fifo_hardware import held
from tests.rtl.designs import PORTS

DEPTHS = (
    2, 3, 4, 5, 6, 7, 9, 16, 17, 32, 33, 34, 35, 64, 65, 100, 129, 257,  # in LUTs
    258, 400, 513, 514, 516, 600, 769, 1025, 1026, 1537, 2028,  # block RAM
    2029, 2065, 2066, 4000, 4113, 4114, 4115, 6161, 8209, 12305,  # UltraRAM
)  # fmt: skip
NARROW = (2, 5, 6, 33, 34, 48, 63, 64, 65, 258)
"""For beats of 8 bits: up to 64 they lie in a shift register, which wider ones do up to 33."""

CAPACITY = 1 << 15

BENCH = """module bench({ports},
    input [7:0] chosen, input [31:0] depth, output reg [31:0] differences, output [31:0] maxcount, real_maxcount);
localparam int unsigned DEPTHS [{count}] = '{{ {depths} }};
wire rst = !ap_rst_n;
wire [{count}-1:0] irdy, ovld;
wire [{high}:0] odat [{count}];
wire [31:0] maxcounts [{count}];
for (genvar i = 0; i < {count}; i++) begin : each
    wire clock = ap_clk && chosen == i; // the others stand still, which is many times faster
    assign maxcounts[i][31:$clog2(DEPTHS[i]+1)+1] = 0;
    fifo #(.DEPTH(DEPTHS[i]), .DATA_WIDTH({high}+1)) theirs (
        .clk(clock), .rst, .idat(in0_V_TDATA), .ivld(in0_V_TVALID), .irdy(irdy[i]),
        .odat(odat[i]), .ovld(ovld[i]), .ordy(out0_V_TREADY), .count(),
        .maxcount(maxcounts[i][$clog2(DEPTHS[i]+1):0]));
end
wire ready, valid;
wire [{high}:0] data;
adjustable_fifo #(.WIDTH({high}+1), .CAPACITY({capacity})) ours (
    .clk(ap_clk), .rst, .idat(in0_V_TDATA), .ivld(in0_V_TVALID), .irdy(ready),
    .odat(data), .ovld(valid), .ordy(out0_V_TREADY), .depth, .maxcount);
assign in0_V_TREADY = irdy[chosen];
assign out0_V_TVALID = ovld[chosen];
assign out0_V_TDATA = odat[chosen];
assign real_maxcount = maxcounts[chosen];
always @(posedge ap_clk)
    if (rst) differences <= 0;
    else if (ready != irdy[chosen] || valid != ovld[chosen] || (valid && data != odat[chosen])
             || maxcount != maxcounts[chosen])
        differences <= differences + 1;
endmodule
"""


@pytest.fixture(
    scope="module",
    params=[pytest.param((8, NARROW), marks=pytest.mark.slow), (16, DEPTHS)],
    ids=["8 bits", "16 bits"],
)
def bench(request, library, simulations):
    """One module with a FIFO of each depth."""
    bits, depths = request.param
    text = BENCH.format(
        ports=PORTS.format(high=bits - 1),
        count=len(depths),
        depths=", ".join(map(str, depths)),
        high=bits - 1,
        capacity=CAPACITY,
    )
    sources = (library.read("fifo/hdl/fifo.sv"), library.read(SOURCE), RtlSource("bench.sv", text))
    return build_simulator(SimulationPlan("bench", sources), quick=True), bits, depths


def run(bench, depth, beats, **arguments):
    simulator, bits, depths = bench
    values = np.random.default_rng(depth).integers(0, 1 << bits, (beats, 1))
    return simulator.run(
        {"in0_V": pack(values, bits)},
        {"out0_V": beats},
        held={"chosen": depths.index(depth), "depth": depth},
        constant=["out0_V"],
        **arguments,
    )


stalls = st.one_of(
    st.builds(Stalls.random, st.integers(0, 1 << 32), st.sampled_from([0.0, 0.1, 0.5, 0.8, 0.95])),
    st.builds(
        lambda *counts: Stalls.pattern(
            bit for at, count in enumerate(counts) for bit in [at % 2 == 1] * count
        ),
        *(st.integers(1, 40) for _ in range(4)),
    ),
)


@settings(max_examples=100, deadline=None)
@given(data=st.data(), beats=st.integers(1, 400), at_input=stalls, at_output=stalls)
def test_it_is_finns_fifo_cycle_by_cycle(bench, data, beats, at_input, at_output):
    depth = data.draw(st.sampled_from(bench[2]))
    found = run(bench, depth, beats, stalls={"in0_V": at_input, "out0_V": at_output})
    assert found.values["differences"] == 0


@pytest.mark.slow
def test_it_holds_what_finns_fifo_holds(bench):
    """Three times the beats that it holds: filled to the end, emptied, and filled while it is emptied."""
    for depth in bench[2]:
        beats = held(depth, bench[1])
        output = Stalls.pattern([True] * (beats + 40) + [False] * (beats + 40))
        found = run(bench, depth, 3 * beats, stalls={"out0_V": output})
        assert (depth, found.values["differences"]) == (depth, 0)
        assert (depth, found.values["maxcount"], found.values["real_maxcount"]) == (depth, beats, beats)
