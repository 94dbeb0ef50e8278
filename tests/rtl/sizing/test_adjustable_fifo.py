"""The adjustable FIFO against FINN's own, side by side in one module, cycle by cycle."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brainsmith.rtl.library.sources import Source
from brainsmith.rtl.simulation.beats import pack
from brainsmith.rtl.simulation.plan import SimulationPlan
from brainsmith.rtl.simulation.stalls import Stalls
from brainsmith.rtl.sizing.adjustable import SOURCE
from brainsmith.rtl.sizing.hardware import held
from tests.rtl.designs import PORTS

DEPTHS = (
    2, 3, 4, 5, 6, 7, 8, 9, 16, 17, 31, 32, 33, 34, 35, 47, 63, 64, 65, 66, 100, 128, 129, 256, 257,  # in LUTs
    258, 400, 513, 514, 515, 516, 600, 769, 770, 1025, 1026, 1040, 1537, 2027, 2028,  # block RAM
    2029, 2064, 2065, 2066, 4000, 4113, 4114, 4115, 4200, 8209, 8300, 12305,  # UltraRAM
)  # fmt: skip
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


@pytest.fixture(scope="module", params=[8, 16])
def bench(request, library, simulations):
    """One module with a FIFO of each depth; in beats of 8 bits other depths lie in a shift register than in wider."""
    from brainsmith.rtl.simulation.build import build_simulator

    bits = request.param
    text = BENCH.format(
        ports=PORTS.format(high=bits - 1),
        count=len(DEPTHS),
        depths=", ".join(map(str, DEPTHS)),
        high=bits - 1,
        capacity=CAPACITY,
    )
    sources = (library.read("fifo/hdl/fifo.sv"), library.read(SOURCE), Source("bench.sv", text))
    return build_simulator(SimulationPlan("bench", sources), cache=simulations, quick=True), bits


def run(bench, depth, beats, **arguments):
    simulator, bits = bench
    values = np.random.default_rng(depth).integers(0, 1 << bits, (beats, 1))
    return simulator.run(
        {"in0_V": pack(values, bits)},
        {"out0_V": beats},
        held={"chosen": DEPTHS.index(depth), "depth": depth},
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
@given(depth=st.sampled_from(DEPTHS), beats=st.integers(1, 400), at_input=stalls, at_output=stalls)
def test_it_is_finns_fifo_cycle_by_cycle(bench, depth, beats, at_input, at_output):
    found = run(bench, depth, beats, stalls={"in0_V": at_input, "out0_V": at_output})
    assert found.values["differences"] == 0


@pytest.mark.parametrize("depth", DEPTHS)
def test_it_holds_what_finns_fifo_holds(bench, depth):
    """Three times the beats that it holds: filled to the end, emptied, and filled while it is emptied."""
    beats = held(depth, bench[1])
    output = Stalls.pattern([True] * (beats + 40) + [False] * (beats + 40))
    found = run(bench, depth, 3 * beats, stalls={"out0_V": output})
    assert found.values["differences"] == 0
    assert found.values["real_maxcount"] == found.values["maxcount"] == beats
