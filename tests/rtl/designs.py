"""Small designs of the tests' own, for what no layer of FINN does."""

from brainsmith.rtl.library.sources import RtlSource
from brainsmith.rtl.simulation.simulation_plan import SimulationPlan

PORTS = """
    input ap_clk, input ap_rst_n,
    input [{high}:0] in0_V_TDATA, input in0_V_TVALID, output in0_V_TREADY,
    output [{high}:0] out0_V_TDATA, output out0_V_TVALID, input out0_V_TREADY"""


def stream_design(body, width=8, top="layer", **arguments):
    """A module with one stream in and one out."""
    text = f"module {top}({PORTS.format(high=width - 1)});\n{body}\nendmodule\n"
    return SimulationPlan(top, (RtlSource(f"{top}.v", text),), **arguments)


PASS = """
assign out0_V_TDATA = in0_V_TDATA;
assign out0_V_TVALID = in0_V_TVALID;
assign in0_V_TREADY = out0_V_TREADY;
"""
ZEROS = PASS.replace("out0_V_TDATA = in0_V_TDATA", "out0_V_TDATA = 0")
STUCK = """
reg [3:0] n = 0;
always @(posedge ap_clk) if (in0_V_TVALID & in0_V_TREADY) n <= n + 1;
assign in0_V_TREADY = n < 5;
assign out0_V_TDATA = in0_V_TDATA;
assign out0_V_TVALID = in0_V_TVALID & in0_V_TREADY & (n < 3);
"""
DOUBLED = """
reg half = 0;
always @(posedge ap_clk) if (!ap_rst_n) half <= 0; else if (out0_V_TVALID & out0_V_TREADY) half <= !half;
assign out0_V_TDATA = in0_V_TDATA ^ {8{half}};
assign out0_V_TVALID = in0_V_TVALID;
assign in0_V_TREADY = out0_V_TREADY & half;
"""
LOADED = """
reg [7:0] table_[0:255];
initial $readmemh("{file}", table_);
assign out0_V_TDATA = table_[in0_V_TDATA];
assign out0_V_TVALID = in0_V_TVALID;
assign in0_V_TREADY = out0_V_TREADY;
"""
