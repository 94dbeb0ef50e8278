// SPDX-License-Identifier: MIT
// Lets the beats of a window pass and drops all others (window_turns).
//
// Nothing is stored but the turns. A beat outside the window is taken at once, whatever the output does.
module crop_window_core #(
    int unsigned BITS = 8,  // of a beat
    parameter logic [5:0][2:0][31:0] TURNS = {32'd1, 64'd0, 32'd4, 32'd1, 32'd2, {4{32'd1, 64'd0}}}  // window_turns
) (
    input logic clk,
    input logic rst,

    input  logic [BITS-1:0] in_data,
    input  logic            in_valid,
    output logic            in_ready,

    output logic [BITS-1:0] out_data,
    output logic            out_valid,
    input  logic            out_ready
);

    logic kept, unused_ends;

    assign out_data  = in_data;
    assign out_valid = in_valid && kept;
    assign in_ready  = out_ready || !kept;

    window_turns #(.TURNS(TURNS)) turns (
        .clk, .rst, .step(in_valid && in_ready), .kept, .ends(unused_ends)
    );

endmodule
