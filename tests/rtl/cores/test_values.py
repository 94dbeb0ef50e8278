"""What a backend says of itself: support and parallelism; and the module that wraps its core."""

import pytest

from brainsmith.rtl.cores.parallelism import Parallelism, divisors
from brainsmith.rtl.cores.support import SUPPORTED, unsupported
from brainsmith.rtl.cores.wrapper import CorePins, CoreStream, wrap_core


def test_support_is_true_or_has_a_reason():
    assert SUPPORTED
    assert not unsupported("its input is FLOAT32")
    assert unsupported("its input is FLOAT32").reason == "its input is FLOAT32"
    with pytest.raises(ValueError, match=r"^a backend that does not support a node must say why$"):
        unsupported("")


def test_parallelism_ascends():
    assert Parallelism("PE", divisors(12)).values == (1, 2, 3, 4, 6, 12)
    for values in ((), (2, 1), (1, 1), (0, 1)):
        with pytest.raises(ValueError, match=r"^values of PE must be ascending and positive, not "):
            Parallelism("PE", values)
    with pytest.raises(ValueError, match=r"^a number with divisors must be 1 or more, not 0$"):
        divisors(0)


def test_the_module_around_a_core():
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
