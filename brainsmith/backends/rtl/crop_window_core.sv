// SPDX-License-Identifier: MIT
// Lets the beats of a window pass and drops all others: a frame is a nest of up to six loops, and a beat is in the
// window if every loop is between its first and its last turn there.
//
// Nothing is stored but the turns. A beat outside the window is taken at once, whatever the output does.
module crop_window_core #(
    int unsigned BITS   = 8,  // of a beat
    int unsigned SIZE0  = 1,  // turns of the outermost loop ...
    int unsigned SIZE1  = 1,
    int unsigned SIZE2  = 1,
    int unsigned SIZE3  = 1,
    int unsigned SIZE4  = 4,
    int unsigned SIZE5  = 1,  // ... and of the innermost one
    int unsigned FIRST0 = 0,  // turns that are in the window
    int unsigned FIRST1 = 0,
    int unsigned FIRST2 = 0,
    int unsigned FIRST3 = 0,
    int unsigned FIRST4 = 1,
    int unsigned FIRST5 = 0,
    int unsigned LAST0  = 0,
    int unsigned LAST1  = 0,
    int unsigned LAST2  = 0,
    int unsigned LAST3  = 0,
    int unsigned LAST4  = 2,
    int unsigned LAST5  = 0
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

    localparam int unsigned LOOPS = 6;
    localparam logic [LOOPS-1:0][31:0] SIZE = {SIZE5, SIZE4, SIZE3, SIZE2, SIZE1, SIZE0};
    localparam logic [LOOPS-1:0][31:0] FIRST = {FIRST5, FIRST4, FIRST3, FIRST2, FIRST1, FIRST0};
    localparam logic [LOOPS-1:0][31:0] LAST = {LAST5, LAST4, LAST3, LAST2, LAST1, LAST0};

    logic take;
    logic [LOOPS-1:0] turned, kept;  // loops in their last turn; loops between FIRST and LAST

    assign out_data  = in_data;
    assign out_valid = in_valid && (kept == '1);
    assign in_ready  = out_ready || (kept != '1);
    assign take      = in_valid && in_ready;

    logic unused;  // where a frame is one beat, nothing is counted
    assign unused = &{1'b0, clk, rst, take, turned};

    for (genvar i = 0; i < LOOPS; i++) begin : loops
        if (SIZE[i] == 1) begin : once
            assign turned[i] = 1'b1;
            assign kept[i] = 1'b1;
        end else begin : counted
            localparam int unsigned TURN_BITS = $clog2(SIZE[i]);
            localparam logic [LOOPS-1:0] INNER = LOOPS'(~((64'd2 << i) - 1));  // the loops inside this one
            logic [TURN_BITS-1:0] turn;

            assign turned[i] = turn == TURN_BITS'(SIZE[i] - 1);
            if (FIRST[i] == 0 && LAST[i] == SIZE[i] - 1) begin : whole
                assign kept[i] = 1'b1;
            end else begin : some
                assign kept[i] = TURN_BITS'(turn - TURN_BITS'(FIRST[i])) <= TURN_BITS'(LAST[i] - FIRST[i]);
            end

            always_ff @(posedge clk) begin
                if (rst) turn <= '0;
                else if (take && (turned | ~INNER) == '1) turn <= turned[i] ? '0 : turn + 1'b1;
            end
        end
    end

endmodule
