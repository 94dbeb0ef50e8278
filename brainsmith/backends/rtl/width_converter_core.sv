// SPDX-License-Identifier: MIT
// Gives the units of a stream again in beats of another width, as fast as the narrower side takes or gives them.
//
// Both widths are whole numbers of units without a common divisor. Whatever is behind the narrower side can stand still:
// one more beat of it is kept, so that no ready depends on the other ready in the same cycle.
module width_converter_core #(
    int unsigned UNIT = 1,  // bits
    int unsigned TAKEN = 2,  // units of an input beat
    int unsigned GIVEN = 3,  // units of an output beat
    bit STAGED = 0           // whether an output beat is chosen in two cycles, among many places
) (
    input  logic clk,
    input  logic rst,

    input  logic [TAKEN*UNIT-1:0] in_data,
    input  logic                  in_valid,
    output logic                  in_ready,

    output logic [GIVEN*UNIT-1:0] out_data,
    output logic                  out_valid,
    input  logic                  out_ready
);

    if (TAKEN < GIVEN) begin : gen_wider
        width_converter_wider #(.UNIT(UNIT), .TAKEN(TAKEN), .GIVEN(GIVEN), .STAGED(STAGED)) wider (.*);
    end else begin : gen_narrower
        width_converter_narrower #(.UNIT(UNIT), .TAKEN(TAKEN), .GIVEN(GIVEN), .STAGED(STAGED)) narrower (.*);
    end

endmodule
