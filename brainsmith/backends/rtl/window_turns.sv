// SPDX-License-Identifier: MIT
// Where a beat is among the beats of a frame, which are a nest of up to six loops, and whether it is in a window of
// them: every loop is between its first and its last turn there.
module window_turns #(
    // Of each loop, the outermost one in the lowest bits: how many turns it has, the first and the last one in the window.
    parameter logic [5:0][2:0][31:0] TURNS = {6{32'd1, 64'd0}}
) (
    input logic clk,
    input logic rst,

    input  logic step,   // on to the next beat
    output logic kept,   // the beat is in the window
    output logic ends    // it is the frame's last one
);

    localparam int unsigned LOOPS = 6;

    logic [LOOPS-1:0] turned, within_loop;  // loops in their last turn; loops between FIRST and LAST

    assign kept = within_loop == '1;
    assign ends = turned == '1;

    logic unused;  // where a frame is one beat, nothing is counted
    assign unused = &{1'b0, clk, rst, step};

    for (genvar i = 0; i < LOOPS; i++) begin : loops
        localparam logic [31:0] SIZE = TURNS[i][2];
        localparam logic [31:0] FIRST = TURNS[i][1];
        localparam logic [31:0] LAST = TURNS[i][0];

        if (SIZE == 1) begin : once
            assign turned[i] = 1'b1;
            assign within_loop[i] = 1'b1;
        end else begin : counted
            localparam int unsigned TURN_BITS = $clog2(SIZE);
            localparam logic [LOOPS-1:0] INNER = LOOPS'(~((64'd2 << i) - 1));  // the loops inside this one
            logic [TURN_BITS-1:0] turn;
            logic                 moves;

            assign turned[i] = turn == TURN_BITS'(SIZE - 1);
            if (FIRST == 0 && LAST == SIZE - 1) begin : whole
                assign within_loop[i] = 1'b1;
            end else begin : some
                logic kept_here;

                assign within_loop[i] = kept_here;

                always_ff @(posedge clk) begin
                    if (rst) kept_here <= FIRST == 0;
                    else if (moves) begin
                        if (turned[i])                                            kept_here <= FIRST == 0;
                        else if (turn == TURN_BITS'(LAST))                        kept_here <= 1'b0;
                        else if (FIRST != 0 && turn == TURN_BITS'(FIRST - 32'd1)) kept_here <= 1'b1;
                    end
                end
            end

            assign moves = step && (turned | ~INNER) == '1;

            always_ff @(posedge clk) begin
                if (rst)        turn <= '0;
                else if (moves) turn <= turned[i] ? '0 : turn + 1'b1;
            end
        end
    end

endmodule
