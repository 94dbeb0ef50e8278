// SPDX-License-Identifier: MIT
// The reciprocal root of a row's deviation, floor(2^shift / sqrt(deviation)), one bit per cycle.
//
// The remainder is that of 2^(2 shift) - root^2 deviation, so a step is one subtraction of 4 product + deviation with
// product = root deviation, which grows along, and no division is needed (Parhami, Computer Arithmetic, chapter 21).
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
    logic [DEVIATION_BITS-1:0] scaled, square, deviation;
    logic [REMAINDER_BITS-1:0] remainder, product, trial, rest;
    logic found;  // this step's bit

    // By shifts and adders: sizes have few bits that are 1, and a multiplier would be a DSP slice.
    function automatic logic [WIDE-1:0] times_size(input logic [WIDE-1:0] value);
        times_size = '0;
        for (int unsigned at = 0; at < 32; at++)
            if (SIZE[at]) times_size = times_size + (value << at);
    endfunction

    // All of this is exact modulo a power of two into which the results fit.
    assign trial = (product << 2) + REMAINDER_BITS'(deviation);
    assign found = remainder >= trial;
    assign rest = found ? remainder - trial : remainder;

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
        scaled <= DEVIATION_BITS'(times_size(WIDE'(squares)));
        square <= DEVIATION_BITS'((2 * SUM_BITS)'(out_sum) * (2 * SUM_BITS)'(out_sum));
        if (state == SUBTRACT) begin
            deviation <= scaled - square + DEVIATION_BITS'(EPSILON_TERM);
            remainder <= REMAINDER_BITS'(1) << REMAINDER_START;
            product <= '0;
            out_root <= '0;
            left <= STEP_BITS'(ROOT_BITS - 1);
        end else if (state == STEP) begin
            remainder <= rest << 2;
            product <= (product << 1) + (found ? REMAINDER_BITS'(deviation) : '0);
            out_root <= ROOT_BITS'({out_root, found});
            left <= left - 1'b1;
        end
    end

endmodule
