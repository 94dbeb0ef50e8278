// SPDX-License-Identifier: MIT
// Says whose turn it is: the first has so many beats, then the second, and after the last the first again.
//
// `left` counts down to the last beat of a turn, so that the end is one comparison with 0 whatever the lengths.
module turns_in_order #(
    int unsigned COUNT = 2,

    // Beats of each turn, at least 1; the first in the lowest bits.
    bit [COUNT-1:0][31:0] BEATS = {COUNT{32'd1}},

    localparam int unsigned TURN_BITS = COUNT > 1 ? $clog2(COUNT) : 1
) (
    input  logic clk,
    input  logic rst,

    input  logic                 step,
    output logic [TURN_BITS-1:0] turn
);

    function automatic int unsigned longest();
        longest = 2;
        for (int unsigned i = 0; i < COUNT; i++) if (BEATS[i] > longest) longest = BEATS[i];
    endfunction

    localparam int unsigned LEFT_BITS = $clog2(longest());

    logic [TURN_BITS-1:0] next_turn;
    logic [LEFT_BITS-1:0] left;

    assign next_turn = rst || turn == TURN_BITS'(COUNT - 1) ? '0 : turn + 1'b1;

    always_ff @(posedge clk) begin
        if (rst || (step && left == '0)) begin
            turn <= next_turn;
            left <= LEFT_BITS'(BEATS[next_turn] - 1);
        end else if (step) begin
            left <= left - 1'b1;
        end
    end

endmodule
