// SPDX-License-Identifier: MIT
// Splits a stream along its last axis: of every vector the first beats go to the first output, and so on.
//
// A beat goes straight through, so nothing is stored but whose turn it is.
module streaming_split_core #(
    int unsigned COUNT = 2,  // outputs
    int unsigned BITS = 8,   // of a beat

    // Beats of a vector that each output gets, the first output's in the lowest bits.
    bit [COUNT-1:0][31:0] BEATS = {COUNT{32'd1}}
) (
    input  logic clk,
    input  logic rst,

    input  logic [BITS-1:0] in_data,
    input  logic            in_valid,
    output logic            in_ready,

    output logic [COUNT-1:0][BITS-1:0] out_data,
    output logic [COUNT-1:0]           out_valid,
    input  logic [COUNT-1:0]           out_ready
);

    localparam int unsigned TURN_BITS = COUNT > 1 ? $clog2(COUNT) : 1;

    logic [TURN_BITS-1:0] turn;

    assign out_data = {COUNT{in_data}};
    assign in_ready = out_ready[turn];
    always_comb begin
        out_valid       = '0;
        out_valid[turn] = in_valid;
    end

    turns_in_order #(.COUNT(COUNT), .BEATS(BEATS)) turns (
        .clk,
        .rst,
        .step(in_valid && in_ready),
        .turn
    );

endmodule
