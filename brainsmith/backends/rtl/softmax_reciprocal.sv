// SPDX-License-Identifier: MIT
// The reciprocal of a row's sum, floor(2^shift / sum), by restoring division, one bit per cycle.
//
// A row takes BITS + 2 cycles: take, the bits, give.
module softmax_reciprocal #(
    int unsigned SUM_BITS = 14,
    int unsigned START = 12,  // 2^START is at most the sum, and the reciprocal's first bit says whether it is
    int unsigned BITS = 11    // of the reciprocal
) (
    input logic clk,
    input logic rst,

    input  logic [SUM_BITS-1:0] in_sum,
    input  logic                in_valid,
    output logic                in_ready,

    output logic [BITS-1:0] out_reciprocal,
    output logic            out_valid,
    input  logic            out_ready
);

    localparam int unsigned STEP_BITS = $clog2(BITS);

    typedef enum logic [1:0] {TAKE, STEP, GIVE} state_t;

    state_t state;
    logic [STEP_BITS-1:0] left;  // steps after this one
    logic [SUM_BITS-1:0] sum;
    logic [SUM_BITS:0] remainder, rest;
    logic found;  // this step's bit

    assign found = remainder >= {1'b0, sum};
    assign rest = found ? remainder - {1'b0, sum} : remainder;
    assign in_ready = state == TAKE;
    assign out_valid = state == GIVE;

    always_ff @(posedge clk) begin
        if (rst) state <= TAKE;
        else begin
            case (state)
                TAKE: if (in_valid) state <= STEP;
                STEP: if (left == '0) state <= GIVE;
                GIVE: if (out_ready) state <= TAKE;
                default: state <= TAKE;
            endcase
        end
    end

    always_ff @(posedge clk) begin
        if (state == TAKE) begin
            sum <= in_sum;
            remainder <= (SUM_BITS + 1)'(1) << START;
            left <= STEP_BITS'(BITS - 1);
        end else if (state == STEP) begin
            remainder <= rest << 1;
            out_reciprocal <= BITS'({out_reciprocal, found});
            left <= left - 1'b1;
        end
    end

endmodule
