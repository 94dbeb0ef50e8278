// SPDX-License-Identifier: MIT
// Joins streams along their last axis: for every vector all beats of the first input, then of the second, and so on.
//
// A beat goes straight through, so nothing is stored but whose turn it is; the inputs that wait are not taken. Inputs
// may differ in their datatypes: each value is widened to the output's.
module streaming_concat_core #(
    int unsigned SIMD = 1,      // values in a beat
    int unsigned COUNT = 2,     // inputs
    int unsigned OUT_BITS = 8,  // of a value that is given; no input has more
    int unsigned IN_BITS = 16,  // of a beat of all inputs together

    // Of each input, the first in the lowest bits: beats of a vector, bits of a value, whether it is signed.
    bit [COUNT-1:0][31:0] BEATS = {COUNT{32'd1}},
    bit [COUNT-1:0][31:0] BITS = {COUNT{32'd8}},
    bit [COUNT-1:0]       SIGNED = '1
) (
    input  logic clk,
    input  logic rst,

    input  logic [IN_BITS-1:0] in_data,  // the first input's beat in the lowest bits
    input  logic [COUNT-1:0]   in_valid,
    output logic [COUNT-1:0]   in_ready,

    output logic [SIMD*OUT_BITS-1:0] out_data,
    output logic                     out_valid,
    input  logic                     out_ready
);

    localparam int unsigned TURN_BITS = COUNT > 1 ? $clog2(COUNT) : 1;

    // Bits of a beat of the inputs before one.
    function automatic int unsigned begins(int unsigned index);
        begins = 0;
        for (int unsigned i = 0; i < index; i++) begins += SIMD * BITS[i];
    endfunction

    logic [COUNT-1:0][SIMD*OUT_BITS-1:0] widened;
    logic [TURN_BITS-1:0]                turn;

    for (genvar i = 0; i < COUNT; i++) begin : gen_inputs
        localparam int unsigned WIDTH = BITS[i];
        for (genvar lane = 0; lane < SIMD; lane++) begin : gen_lanes
            logic [WIDTH-1:0] value;
            assign value = in_data[begins(i) + lane * WIDTH +: WIDTH];
            assign widened[i][lane*OUT_BITS +: OUT_BITS] =
                OUT_BITS'(signed'({SIGNED[i] & value[WIDTH-1], value}));
        end
    end

    assign out_data  = widened[turn];
    assign out_valid = in_valid[turn];
    always_comb begin
        in_ready       = '0;
        in_ready[turn] = out_ready;
    end

    turns_in_order #(.COUNT(COUNT), .BEATS(BEATS)) turns (
        .clk,
        .rst,
        .step(out_valid && out_ready),
        .turn
    );

endmodule
