// SPDX-License-Identifier: MIT
// Replaces each index of a stream by a row of a table, one per cycle.
//
// The table's own register is the output: a row is read in the cycle in which its index is taken, and stays until it
// is taken itself. So block RAM needs no logic behind it.
module lookup_core #(
    int unsigned INDEX_BITS = 4,  // of an index; all indices below DEPTH
    int unsigned ROW_BITS = 8,    // of a row, which is one beat
    int unsigned DEPTH = 16,      // rows
    parameter    TABLE = "",      // their content
    parameter    STYLE = "block"
) (
    input  logic clk,
    input  logic rst,

    input  logic [INDEX_BITS-1:0] in_data,
    input  logic                  in_valid,
    output logic                  in_ready,

    output logic [ROW_BITS-1:0] out_data,
    output logic                out_valid,
    input  logic                out_ready
);

    localparam int unsigned ADDRESS_BITS = DEPTH > 1 ? $clog2(DEPTH) : 1;

    assign in_ready = out_ready || !out_valid;

    always_ff @(posedge clk) begin
        if (rst)           out_valid <= 1'b0;
        else if (in_ready) out_valid <= in_valid;
    end

    constant_rom #(.BITS(ROW_BITS), .DEPTH(DEPTH), .FILE(TABLE), .STYLE(STYLE)) rom (
        .clk,
        .enable(in_valid && in_ready),
        .address(ADDRESS_BITS'(in_data)),
        .word(out_data)
    );

endmodule
