// SPDX-License-Identifier: MIT
// Replaces each index of a stream by a row of a table, one per cycle.
//
// A row is read in the cycle in which its index is taken. The register of a table in LUTs is the output; block RAM, whose
// rows come late in a cycle, has one more behind it. All of them hold still while a row is not taken.
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

    logic [ROW_BITS-1:0] row;
    logic                valid;  // there is a row

    constant_rom #(.BITS(ROW_BITS), .DEPTH(DEPTH), .FILE(TABLE), .STYLE(STYLE)) rom (
        .clk,
        .enable(in_ready),
        .address(ADDRESS_BITS'(in_data)),
        .word(row)
    );

    always_ff @(posedge clk) begin
        if (rst)           valid <= 1'b0;
        else if (in_ready) valid <= in_valid;
    end

    if (STYLE == "block" && DEPTH > 1) begin : gen_behind
        always_ff @(posedge clk) begin
            if (in_ready) out_data <= row;

            if (rst)           out_valid <= 1'b0;
            else if (in_ready) out_valid <= valid;
        end
    end else begin : gen_direct
        assign out_data  = row;
        assign out_valid = valid;
    end

endmodule
