// SPDX-License-Identifier: MIT
// The words of a table one after the other, and again from the first: `step` goes on to the next.
//
// A table is read one word ahead, because a word comes a cycle after its address; the first word is there after one
// cycle of reset. Behind block RAM there is a register, so that its word is there as early in a cycle as any other: it is
// read two words ahead, and `ready` says two cycles after the reset that the first word is there. A table of one word
// needs no address.
module table_in_step #(
    int unsigned BITS = 8,
    int unsigned DEPTH = 2,
    parameter    FILE = "",
    parameter    STYLE = "distributed"
) (
    input  logic clk,
    input  logic rst,

    input  logic            step,
    output logic            ready,
    output logic [BITS-1:0] word
);

    localparam int unsigned AT_BITS = DEPTH > 1 ? $clog2(DEPTH) : 1;
    localparam bit BEHIND = STYLE == "block" && DEPTH > 1;  // whether there is a register behind the table
    localparam logic [AT_BITS-1:0] LAST = AT_BITS'(DEPTH - 1);
    localparam logic [AT_BITS-1:0] SECOND = DEPTH > 1 ? 1 : 0;

    logic [AT_BITS-1:0] following;  // the next word to be read
    logic               move;

    always_ff @(posedge clk) begin
        if (rst)       following <= BEHIND ? '0 : SECOND;
        else if (move) following <= following == LAST ? '0 : following + 1'b1;
    end

    if (BEHIND) begin : gen_behind
        logic [BITS-1:0] fetched;
        logic            first;  // the first word has been fetched

        assign move = step || !ready;

        constant_rom #(.BITS(BITS), .DEPTH(DEPTH), .FILE(FILE), .STYLE(STYLE)) rom (
            .clk, .enable(move), .address(following), .word(fetched)
        );

        always_ff @(posedge clk) begin
            if (rst) {ready, first} <= '0;
            else     {ready, first} <= {first, 1'b1};
            if (move) word <= fetched;
        end
    end else begin : gen_direct
        assign move  = step;
        assign ready = 1'b1;

        constant_rom #(.BITS(BITS), .DEPTH(DEPTH), .FILE(FILE), .STYLE(STYLE)) rom (
            .clk, .enable(rst || move), .address(rst ? '0 : following), .word
        );
    end

endmodule
