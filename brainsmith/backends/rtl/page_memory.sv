// SPDX-License-Identifier: MIT
// One port to write, one to read: what a read gives is in a register, which keeps it until the next read.
//
// Cores hold two pages in it and fill one while they read the other, so a place is never written and read at once,
// and what a memory does then (block RAMs differ) does not matter: for Yosys, which would compare the addresses, the
// attribute no_rw_check says so.
module page_memory #(
    int unsigned WORDS = 2,  // 2 or more
    int unsigned BITS = 8,   // of a word
    bit BLOCK = 0            // in block RAM, else in LUTs
) (
    input logic clk,

    input logic                     write,
    input logic [$clog2(WORDS)-1:0] write_at,
    input logic [BITS-1:0]          write_data,

    input  logic                     read,
    input  logic [$clog2(WORDS)-1:0] read_at,
    output logic [BITS-1:0]          read_data
);

    if (BLOCK) begin : in_blocks
        (* ram_style = "block", no_rw_check *) logic [BITS-1:0] words[WORDS];

        always_ff @(posedge clk) begin
            if (write) words[write_at] <= write_data;
            if (read) read_data <= words[read_at];
        end
    end else begin : in_luts
        (* ram_style = "distributed" *) logic [BITS-1:0] words[WORDS];

        always_ff @(posedge clk) begin
            if (write) words[write_at] <= write_data;
            if (read) read_data <= words[read_at];
        end
    end

endmodule
