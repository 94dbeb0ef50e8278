// SPDX-License-Identifier: MIT
// Puts a value around a tensor: a frame of the output is a nest of up to six loops, and a beat comes from the input if
// every loop is between its first and its last turn there; any other beat holds the value in all lanes.
//
// Nothing is stored but the turns. A frame begins when its first beat is offered, also where it begins with padding.
module pad_core #(
    int unsigned SIMD     = 1,
    int unsigned IN_BITS  = 8,
    int unsigned OUT_BITS = 8,  // not less than IN_BITS
    int unsigned SIGNED   = 0,  // 1: values are in two's complement
    int unsigned VALUE    = 0,  // of the padding, as OUT_BITS hold it
    int unsigned SIZE0    = 1,  // turns of the outermost loop ...
    int unsigned SIZE1    = 1,
    int unsigned SIZE2    = 1,
    int unsigned SIZE3    = 1,
    int unsigned SIZE4    = 4,
    int unsigned SIZE5    = 1,  // ... and of the innermost one
    int unsigned FIRST0   = 0,  // turns whose beats come from the input
    int unsigned FIRST1   = 0,
    int unsigned FIRST2   = 0,
    int unsigned FIRST3   = 0,
    int unsigned FIRST4   = 1,
    int unsigned FIRST5   = 0,
    int unsigned LAST0    = 0,
    int unsigned LAST1    = 0,
    int unsigned LAST2    = 0,
    int unsigned LAST3    = 0,
    int unsigned LAST4    = 2,
    int unsigned LAST5    = 0
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

    localparam int unsigned LOOPS = 6;
    localparam logic [LOOPS-1:0][31:0] SIZE = {SIZE5, SIZE4, SIZE3, SIZE2, SIZE1, SIZE0};
    localparam logic [LOOPS-1:0][31:0] FIRST = {FIRST5, FIRST4, FIRST3, FIRST2, FIRST1, FIRST0};
    localparam logic [LOOPS-1:0][31:0] LAST = {LAST5, LAST4, LAST3, LAST2, LAST1, LAST0};

    logic given, give;
    logic open;  // a frame has begun
    logic [LOOPS-1:0] turned, kept;  // loops in their last turn; loops between FIRST and LAST

    assign given     = kept == '1;
    assign out_valid = in_valid || (open && !given);
    assign in_ready  = given && out_ready;
    assign give      = out_valid && out_ready;

    always_ff @(posedge clk) begin
        if (rst) open <= 1'b0;
        else if (give) open <= turned != '1;
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
                else if (give && (turned | ~INNER) == '1) turn <= turned[i] ? '0 : turn + 1'b1;
            end
        end
    end

endmodule
