// SPDX-License-Identifier: MIT
// Puts a value around a tensor: of a frame of the output, the beats in a window (window_turns) come from the input; any
// other beat holds the value in all lanes.
//
// Nothing is stored but the turns. A frame begins when its first beat is offered, also where it begins with padding.
module pad_core #(
    int unsigned SIMD     = 1,
    int unsigned IN_BITS  = 8,
    int unsigned OUT_BITS = 8,  // not less than IN_BITS
    int unsigned SIGNED   = 0,  // 1: values are in two's complement
    int unsigned VALUE    = 0,  // of the padding, as OUT_BITS hold it
    parameter logic [5:0][2:0][31:0] TURNS = {32'd1, 64'd0, 32'd4, 32'd1, 32'd2, {4{32'd1, 64'd0}}}  // window_turns
) (
    input logic clk,
    input logic rst,

    input  logic [SIMD-1:0][IN_BITS-1:0] in_data,
    input  logic                         in_valid,
    output logic                         in_ready,

    output logic [SIMD-1:0][OUT_BITS-1:0] out_data,
    output logic                          out_valid,
    input  logic                          out_ready
);

    logic given, give, ends;
    logic open;  // a frame has begun

    assign out_valid = in_valid || (open && !given);
    assign in_ready  = given && out_ready;
    assign give      = out_valid && out_ready;

    always_ff @(posedge clk) begin
        if (rst) open <= 1'b0;
        else if (give) open <= !ends;
    end

    for (genvar lane = 0; lane < SIMD; lane++) begin : lanes
        logic [OUT_BITS-1:0] value;

        if (SIGNED != 0) begin : widen_signed
            assign value = OUT_BITS'(signed'(in_data[lane]));
        end else begin : widen_unsigned
            assign value = OUT_BITS'(in_data[lane]);
        end
        assign out_data[lane] = given ? value : OUT_BITS'(VALUE);
    end

    window_turns #(.TURNS(TURNS)) turns (
        .clk, .rst, .step(give), .kept(given), .ends
    );

endmodule
