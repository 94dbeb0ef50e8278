// SPDX-License-Identifier: MIT
// The reciprocal root of a row's deviation, floor(2^shift / sqrt(deviation)), one bit per cycle.
//
// The remainder is that of 2^(2 shift) - root^2 deviation, so a step is one subtraction of the trial, 4 product + deviation
// with product = root deviation, and no division is needed (Parhami, Computer Arithmetic, chapter 21). If it is found that
// the root's bit is 1, the next product is 2 product + deviation, else 2 product; so the next trial is twice this one and
// 3 deviations, or less 1 deviation. Both are computed beside the subtraction whose sign decides. The first trial is the
// deviation, whose triple is not known yet: what is added up to raise it is once the trial and 4 deviations.
// A row takes ROOT_BITS + 4 cycles: take, square, subtract, the bits, give.
module layer_norm_root #(
    int unsigned SIZE = 8,
    int unsigned EPSILON_TERM = 1,
    int unsigned SUM_BITS = 12,        // of the row's sum, signed
    int unsigned SQUARE_BITS = 18,     // of the sum of squares
    int unsigned DEVIATION_BITS = 20,  // SIZE squares - sum^2 + EPSILON_TERM, which fits
    int unsigned ROOT_BITS = 18,
    int unsigned REMAINDER_BITS = 31,
    int unsigned REMAINDER_START = 6   // the remainder is 2^REMAINDER_START at first
) (
    input logic clk,
    input logic rst,

    input  logic signed [SUM_BITS-1:0] in_sum,
    input  logic [SQUARE_BITS-1:0]     in_squares,
    input  logic                       in_valid,
    output logic                       in_ready,

    output logic signed [SUM_BITS-1:0] out_sum,
    output logic [ROOT_BITS-1:0]       out_root,
    output logic                       out_valid,
    input  logic                       out_ready
);

    localparam int unsigned STEP_BITS = ROOT_BITS > 1 ? $clog2(ROOT_BITS) : 1;
    localparam int unsigned WIDE = DEVIATION_BITS + SQUARE_BITS;

    typedef enum logic [2:0] {TAKE, SQUARE, SUBTRACT, STEP, GIVE} state_t;

    state_t state;
    logic [STEP_BITS-1:0] left;  // steps after this one
    logic [SQUARE_BITS-1:0] squares;
    logic [DEVIATION_BITS-1:0] scaled, square, exact, deviation;
    logic [REMAINDER_BITS-1:0] remainder, trial, raised, lowered, next;
    logic [REMAINDER_BITS:0] rest;
    logic found;  // this step's bit
    logic [REMAINDER_BITS-1:0] twice;  // the trial, in the first step once
    logic [DEVIATION_BITS+1:0] thrice;  // the deviation, in the first step four times

    // By shifts and adders: sizes have few bits that are 1, and a multiplier would be a DSP slice.
    function automatic logic [WIDE-1:0] times_size(input logic [WIDE-1:0] value);
        times_size = '0;
        for (int unsigned at = 0; at < 32; at++)
            if (SIZE[at]) times_size = times_size + (value << at);
    endfunction

    // All of this is exact modulo a power of two into which the results fit.
    assign rest = {1'b0, remainder} - {1'b0, trial};
    assign found = !rest[REMAINDER_BITS];
    assign raised = twice + REMAINDER_BITS'(thrice);
    assign lowered = (trial << 1) - REMAINDER_BITS'(deviation);
    assign next = found ? raised : lowered;

    assign exact = scaled - square;

    assign in_ready = state == TAKE;
    assign out_valid = state == GIVE;

    always_ff @(posedge clk) begin
        if (rst) state <= TAKE;
        else begin
            case (state)
                TAKE: if (in_valid) state <= SQUARE;
                SQUARE: state <= SUBTRACT;
                SUBTRACT: state <= STEP;
                STEP: if (left == '0) state <= GIVE;
                GIVE: if (out_ready) state <= TAKE;
                default: state <= TAKE;
            endcase
        end
    end

    always_ff @(posedge clk) begin
        if (state == TAKE) begin
            out_sum <= in_sum;
            squares <= in_squares;
        end
        scaled <= DEVIATION_BITS'(times_size(WIDE'(squares)) + WIDE'(EPSILON_TERM));
        square <= DEVIATION_BITS'((2 * SUM_BITS)'(out_sum) * (2 * SUM_BITS)'(out_sum));
        if (state == SUBTRACT) begin
            deviation <= exact;
            trial <= REMAINDER_BITS'(exact);
            twice <= REMAINDER_BITS'(exact);
            thrice <= (DEVIATION_BITS + 2)'(exact) << 2;
            remainder <= REMAINDER_BITS'(1) << REMAINDER_START;
            out_root <= '0;
            left <= STEP_BITS'(ROOT_BITS - 1);
        end else if (state == STEP) begin
            remainder <= (found ? rest[REMAINDER_BITS-1:0] : remainder) << 2;
            trial <= next;
            twice <= next << 1;
            thrice <= (DEVIATION_BITS + 2)'(deviation) + ((DEVIATION_BITS + 2)'(deviation) << 1);
            out_root <= ROOT_BITS'({out_root, found});
            left <= left - 1'b1;
        end
    end

endmodule
