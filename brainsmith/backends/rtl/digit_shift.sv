// SPDX-License-Identifier: MIT
// Moves bits down by none to three units, and gives the lowest ones.
module digit_shift #(
    int unsigned UNIT = 1,  // bits
    int unsigned HELD = 4,  // bits that are moved
    int unsigned KEPT = 1   // bits that are given, no more
) (
    input  logic [1:0]      digit,  // units to move by
    input  logic [HELD-1:0] from,
    output logic [KEPT-1:0] to
);

    logic [3:0][KEPT-1:0] moved;

    for (genvar units = 0; units < 4; units++) begin : gen_moved
        assign moved[units] = KEPT'(from >> (units * UNIT));
    end
    assign to = moved[digit];

endmodule
