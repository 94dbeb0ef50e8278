// SPDX-License-Identifier: MIT
// Products of vectors with a matrix, which it holds itself.
//
// A vector is given once for each group of PE rows, and each of its values to all PE rows: then it is the window that
// an embedded_vvau_core takes, in which all channels have the same values.
module embedded_mvau_core #(
    int unsigned SIMD = 4,         // values of a beat
    int unsigned PE = 2,           // rows at once
    int unsigned BEATS = 2,        // of a vector
    int unsigned FOLDS = 2,        // groups of PE rows
    int unsigned IN_BITS = 4,      // of a value
    int unsigned IN_KIND = 0,      // 0 is unsigned, 1 signed, 2 one bit for -1 or 1
    int unsigned WEIGHT_BITS = 4,
    int unsigned WEIGHT_KIND = 1,
    int unsigned OUT_BITS = 12,    // of a result, which fits
    parameter STYLE = "distributed",  // where the weights lie, or "block"
    parameter WEIGHTS = ""         // file: one word for each beat; the first value of the first row is lowest
) (
    input  logic clk,
    input  logic rst,

    input  logic [SIMD-1:0][IN_BITS-1:0] in_data,
    input  logic                         in_valid,
    output logic                         in_ready,

    output logic [PE-1:0][OUT_BITS-1:0] out_data,
    output logic                        out_valid,
    input  logic                        out_ready
);

    logic [SIMD-1:0][IN_BITS-1:0]         values;
    logic [SIMD-1:0][PE-1:0][IN_BITS-1:0] copies;
    logic                                 valid, ready, unused_last;

    binary_mvau_replay #(
        .BITS(SIMD * IN_BITS), .BEATS(BEATS), .TIMES(FOLDS)
    ) replay (
        .clk, .rst, .in_data, .in_valid, .in_ready,
        .out_data(values), .out_last(unused_last), .out_valid(valid), .out_ready(ready)
    );

    for (genvar s = 0; s < SIMD; s++) begin : g_value
        assign copies[s] = {PE{values[s]}};
    end

    embedded_vvau_core #(
        .SIMD(SIMD), .PE(PE), .BEATS(BEATS), .FOLDS(FOLDS), .IN_BITS(IN_BITS), .IN_KIND(IN_KIND),
        .WEIGHT_BITS(WEIGHT_BITS), .WEIGHT_KIND(WEIGHT_KIND), .OUT_BITS(OUT_BITS), .STYLE(STYLE), .WEIGHTS(WEIGHTS)
    ) products (
        .clk, .rst, .in_data(copies), .in_valid(valid), .in_ready(ready),
        .out_data, .out_valid, .out_ready
    );

endmodule
