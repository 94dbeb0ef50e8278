// SPDX-License-Identifier: MIT
// A table that is read with $readmemh and never written; the word of an address comes one cycle later and stays.
//
// The read is registered whatever the style, so that block RAM and LUTs behave alike. For a table of LUTs Vivado
// reads rom_style, and Yosys ram_style, which knows no ROM of LUTs but by that name.
module constant_rom #(
    int unsigned BITS = 8,               // of a word
    int unsigned DEPTH = 16,             // words
    parameter    FILE = "",              // their content, one hexadecimal number a line
    parameter    STYLE = "distributed",  // or "block"

    localparam int unsigned ADDRESS_BITS = DEPTH > 1 ? $clog2(DEPTH) : 1
) (
    input  logic clk,
    input  logic enable,

    input  logic [ADDRESS_BITS-1:0] address,
    output logic [BITS-1:0]         word
);

    if (STYLE == "block") begin : gen_block
        (* ram_style = "block", rom_style = "block" *)
        logic [BITS-1:0] words [DEPTH];

        initial $readmemh(FILE, words);

        always_ff @(posedge clk) begin
            if (enable) word <= words[address];
        end
    end else begin : gen_distributed
        (* ram_style = "registers", rom_style = "distributed" *)
        logic [BITS-1:0] words [DEPTH];

        initial $readmemh(FILE, words);

        always_ff @(posedge clk) begin
            if (enable) word <= words[address];
        end
    end

endmodule
