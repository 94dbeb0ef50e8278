"""The module around a core: padding, reset, vectors of streams, and parameters of any width."""

from brainsmith.rtl.cores.wrapper import CorePins, CoreStream, wrap_core

WRAPPED = """\
// SPDX-License-Identifier: MIT
module layer (
    (* X_INTERFACE_PARAMETER = "ASSOCIATED_BUSIF in0_V:in1_V:out0_V, ASSOCIATED_RESET ap_rst_n" *)
    input ap_clk,
    input ap_rst_n,
    input [7:0] in0_V_TDATA,
    input in0_V_TVALID,
    output in0_V_TREADY,
    input [15:0] in1_V_TDATA,
    input in1_V_TVALID,
    output in1_V_TREADY,
    output [15:0] out0_V_TDATA,
    output out0_V_TVALID,
    input out0_V_TREADY
);
assign out0_V_TDATA[15:10] = 6'd0;
a_core #(
    .PE(2),
    .TABLE("./layer_table.dat"),
    .BEATS(64'd8589934593)
) core (
    .clk(ap_clk),
    .rst(!ap_rst_n),
    .in_data({in1_V_TDATA[8:0], in0_V_TDATA[3:0]}),
    .in_valid({in1_V_TVALID, in0_V_TVALID}),
    .in_ready({in1_V_TREADY, in0_V_TREADY}),
    .out_data(out0_V_TDATA[9:0]),
    .out_valid(out0_V_TVALID),
    .out_ready(out0_V_TREADY)
);
endmodule
"""


def test_ends_of_different_widths_are_one_vector_of_the_core():
    streams = [
        CoreStream("in", ("in0_V", "in1_V"), 4, fed=True, each=(4, 9)),
        CoreStream("out", ("out0_V",), 10, fed=False),
    ]
    parameters = {"PE": 2, "TABLE": "./layer_table.dat", "BEATS": 1 + (2 << 32)}
    assert wrap_core("layer", "a_core", parameters, streams) == WRAPPED


def test_equal_ends_need_one_width():
    stream = CoreStream("out", ("out0_V", "out1_V"), 9, fed=False)
    assert stream.widths == (("out0_V", 9, 16), ("out1_V", 9, 16))
    assert stream.padded == 16


def test_pins_and_renamed_ports_of_a_core_are_connected_as_stated():
    streams = [
        CoreStream("in", ("in0_V",), 6, True, ("idat", "ivld", "irdy")),
        CoreStream("out", ("out0_V", "out1_V"), 8, False),
    ]
    pins = CorePins(("aclk", "aclk2x"), "aresetn", True, {"mode": 3})
    assert (
        wrap_core("layer_0", "mine", {"BITS": 6, "FILE": "./a.dat"}, streams, pins)
        == """\
// SPDX-License-Identifier: MIT
module layer_0 (
    (* X_INTERFACE_PARAMETER = "ASSOCIATED_BUSIF in0_V:out0_V:out1_V, ASSOCIATED_RESET ap_rst_n" *)
    input ap_clk,
    input ap_rst_n,
    input [7:0] in0_V_TDATA,
    input in0_V_TVALID,
    output in0_V_TREADY,
    output [7:0] out0_V_TDATA,
    output out0_V_TVALID,
    input out0_V_TREADY,
    output [7:0] out1_V_TDATA,
    output out1_V_TVALID,
    input out1_V_TREADY
);
mine #(
    .BITS(6),
    .FILE("./a.dat")
) core (
    .aclk(ap_clk),
    .aclk2x(ap_clk),
    .aresetn(ap_rst_n),
    .mode(3),
    .idat(in0_V_TDATA[5:0]),
    .ivld(in0_V_TVALID),
    .irdy(in0_V_TREADY),
    .out_data({out1_V_TDATA[7:0], out0_V_TDATA[7:0]}),
    .out_valid({out1_V_TVALID, out0_V_TVALID}),
    .out_ready({out1_V_TREADY, out0_V_TREADY})
);
endmodule
"""
    )
