// SPDX-License-Identifier: MIT
// Reduces WINDOW beats to one: the greatest value of each lane, or the sum of its values, shifted right.
//
// The register that gathers a window also holds its result for the output. So nothing is stored twice, and the
// first beat of the next window is taken in the cycle in which the result goes: one beat per cycle.
module pool_core #(
    int unsigned SUM      = 0,  // 1: the sum of a window, 0: the greatest value
    int unsigned SIGNED   = 0,  // 1: values are in two's complement
    int unsigned BIPOLAR  = 0,  // 1: values are single bits, 0 for -1
    int unsigned PE       = 1,  // lanes
    int unsigned WINDOW   = 4,  // values of each lane that are one result
    int unsigned IN_BITS  = 8,
    int unsigned ACC_BITS = 8,  // wide enough for any result before the shift, not less than IN_BITS
    int unsigned SHIFT    = 0,
    int unsigned OUT_BITS = 8
) (
    input  logic clk,
    input  logic rst,

    input  logic [PE-1:0][IN_BITS-1:0] in_data,
    input  logic                       in_valid,
    output logic                       in_ready,

    output logic [PE-1:0][OUT_BITS-1:0] out_data,
    output logic                        out_valid,
    input  logic                        out_ready
);

    localparam int unsigned COUNT_BITS = WINDOW > 1 ? $clog2(WINDOW) : 1;
    typedef logic [ACC_BITS-1:0] acc_t;

    logic [COUNT_BITS-1:0] position;  // in the window, of the beat that is awaited
    logic first, last, take;

    assign first    = position == '0;
    assign last     = position == COUNT_BITS'(WINDOW - 1);
    assign in_ready = !out_valid || out_ready;
    assign take     = in_valid && in_ready;

    always_ff @(posedge clk) begin
        if (rst) begin
            position  <= '0;
            out_valid <= 1'b0;
        end else begin
            if (take) position <= last ? '0 : position + 1'b1;
            if (in_ready) out_valid <= in_valid && last;
        end
    end

    for (genvar lane = 0; lane < PE; lane++) begin : lanes
        acc_t acc, value;

        if (BIPOLAR != 0 && SUM != 0) begin : widen_bipolar
            assign value = in_data[lane] == '0 ? '1 : acc_t'(1);
        end else if (SIGNED != 0) begin : widen_signed
            assign value = acc_t'(signed'(in_data[lane]));
        end else begin : widen_unsigned
            assign value = acc_t'(in_data[lane]);
        end

        if (SUM != 0) begin : add
            always_ff @(posedge clk) if (take) acc <= (first ? '0 : acc) + value;
        end else begin : maximum
            // The opposite of a sign orders signed values like unsigned ones, in a single carry chain.
            localparam acc_t SIGN = SIGNED != 0 ? acc_t'(1) << (ACC_BITS - 1) : '0;
            logic greater;
            assign greater = (value ^ SIGN) > (acc ^ SIGN);
            always_ff @(posedge clk) if (take && (first || greater)) acc <= value;
        end

        if (SIGNED != 0) begin : give_signed
            assign out_data[lane] = OUT_BITS'(signed'(acc) >>> SHIFT);
        end else begin : give_unsigned
            assign out_data[lane] = OUT_BITS'(acc >> SHIFT);
        end
    end

endmodule
