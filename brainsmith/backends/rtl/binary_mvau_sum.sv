// SPDX-License-Identifier: MIT
// Adds numbers up in pairs, with a register behind each addition: $clog2(COUNT) cycles from the numbers to their sum.
//
// All registers hold still where `enable` is low. The module contains itself for the sums of the pairs.
module binary_mvau_sum #(
    int unsigned COUNT = 4,      // numbers
    int unsigned BITS = 4,       // of each
    int unsigned SIGNED = 0,     // whether they are in two's complement
    int unsigned SUM_BITS = BITS + $clog2(COUNT)
) (
    input  logic clk,
    input  logic enable,

    input  logic [COUNT-1:0][BITS-1:0] numbers,
    output logic [SUM_BITS-1:0]        sum
);

    if (COUNT == 1) begin : g_one
        logic unused;
        assign unused = clk ^ enable;
        assign sum = numbers[0];
    end else begin : g_pairs
        localparam int unsigned PAIRS = COUNT / 2;
        localparam int unsigned SUMS = (COUNT + 1) / 2;

        logic [COUNT-1:0][BITS:0] extended;
        logic [SUMS-1:0][BITS:0]  sums;

        for (genvar i = 0; i < COUNT; i++) begin : g_extended
            assign extended[i] = {SIGNED != 0 && numbers[i][BITS-1], numbers[i]};
        end

        always_ff @(posedge clk) begin
            if (enable) begin
                for (int i = 0; i < PAIRS; i++) sums[i] <= extended[2*i] + extended[2*i+1];
                if (SUMS > PAIRS) sums[SUMS-1] <= extended[COUNT-1];
            end
        end

        binary_mvau_sum #(
            .COUNT(SUMS), .BITS(BITS + 1), .SIGNED(SIGNED)
        ) rest (
            .clk, .enable, .numbers(sums), .sum
        );
    end

endmodule
