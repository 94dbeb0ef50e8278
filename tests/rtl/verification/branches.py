"""A small design of the tests' own that stands still without a FIFO: two branches, one of which holds a frame back."""

from brainsmith.rtl.library.sources import RtlSource
from brainsmith.rtl.stitching.design import DESIGN, Design, DesignStream, End, Layer, Layout, Link

BEATS = 16

FORK = """
module fork_(input ap_clk, input ap_rst_n,
    input [7:0] in0_V_TDATA, input in0_V_TVALID, output in0_V_TREADY,
    output [7:0] out0_V_TDATA, output out0_V_TVALID, input out0_V_TREADY,
    output [7:0] out1_V_TDATA, output out1_V_TVALID, input out1_V_TREADY);
assign out0_V_TDATA = in0_V_TDATA;
assign out1_V_TDATA = in0_V_TDATA;
assign in0_V_TREADY = out0_V_TREADY & out1_V_TREADY;
assign out0_V_TVALID = in0_V_TVALID & out1_V_TREADY;
assign out1_V_TVALID = in0_V_TVALID & out0_V_TREADY;
endmodule
"""
COLLECT = """
module collect(input ap_clk, input ap_rst_n,
    input [7:0] in0_V_TDATA, input in0_V_TVALID, output in0_V_TREADY,
    output [7:0] out0_V_TDATA, output out0_V_TVALID, input out0_V_TREADY);
reg [7:0] kept [0:15];
reg [4:0] n = 0, given = 0;
assign in0_V_TREADY = n < 16;
assign out0_V_TVALID = n == 16;
assign out0_V_TDATA = kept[given[3:0]];
always @(posedge ap_clk) if (!ap_rst_n) begin n <= 0; given <= 0; end else begin
    if (in0_V_TVALID & in0_V_TREADY) begin kept[n[3:0]] <= in0_V_TDATA; n <= n + 1; end
    if (out0_V_TVALID & out0_V_TREADY) begin
        given <= given == 15 ? 0 : given + 1;
        if (given == 15) n <= 0;
    end
end
endmodule
"""
JOIN = """
module join_(input ap_clk, input ap_rst_n,
    input [7:0] in0_V_TDATA, input in0_V_TVALID, output in0_V_TREADY,
    input [7:0] in1_V_TDATA, input in1_V_TVALID, output in1_V_TREADY,
    output [7:0] out0_V_TDATA, output out0_V_TVALID, input out0_V_TREADY);
assign out0_V_TDATA = in0_V_TDATA + in1_V_TDATA;
assign out0_V_TVALID = in0_V_TVALID & in1_V_TVALID;
assign in0_V_TREADY = out0_V_TVALID & out0_V_TREADY;
assign in1_V_TREADY = out0_V_TVALID & out0_V_TREADY;
endmodule
"""


def _ports(*streams):
    ports = [("ap_clk", True), ("ap_rst_n", True)]
    for stream in streams:
        fed = stream.startswith("in")
        ports += [(f"{stream}_TDATA", fed), (f"{stream}_TVALID", fed), (f"{stream}_TREADY", not fed)]
    return tuple(ports)


def _layout(tensor):
    return Layout(tensor, (BEATS,), 1, 8, False)


def branches(library, depth):
    """A fork, one branch that collects a frame before it gives it, the other with a FIFO, and their sum."""
    layers = (
        Layer("fork", "fork_", "Fork_rtl", _ports("in0_V", "out0_V", "out1_V"), BEATS),
        Layer("collect", "collect", "Collect_rtl", _ports("in0_V", "out0_V"), BEATS),
        Layer("join", "join_", "Join_rtl", _ports("in0_V", "in1_V", "out0_V"), BEATS),
    )
    links = (
        Link("s_axis_0", End(DESIGN, "s_axis_0"), End("fork", "in0_V"), 8, _layout("x")),
        Link("slow", End("fork", "out0_V"), End("collect", "in0_V"), 8, _layout("a")),
        Link("short", End("fork", "out1_V"), End("join", "in1_V"), 8, _layout("b"), depth),
        Link("collected", End("collect", "out0_V"), End("join", "in0_V"), 8, _layout("c")),
        Link("sum", End("join", "out0_V"), End(DESIGN, "m_axis_0"), 8, _layout("y")),
    )
    texts = {"fork_.v": FORK, "collect.v": COLLECT, "join_.v": JOIN}
    return Design(
        top="branches",
        layers=layers,
        links=links,
        inputs=(DesignStream("s_axis_0", 8, _layout("x")),),
        outputs=(DesignStream("m_axis_0", 8, _layout("y")),),
        sources=(*(RtlSource(name, text) for name, text in texts.items()), library.read("fifo/hdl/fifo.sv")),
        memories=(),
    )
