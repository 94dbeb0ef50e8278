// SPDX-License-Identifier: MIT
// The words of a table one after the other, and again from the first: `step` goes on to the next.
//
// The address runs one word ahead, because a table's word comes a cycle after its address. The first word is there
// after one cycle of reset. A table of one word needs no address.
module table_in_step #(
    int unsigned BITS = 8,
    int unsigned DEPTH = 2,
    parameter    FILE = "",
    parameter    STYLE = "distributed"
) (
    input  logic clk,
    input  logic rst,

    input  logic            step,
    output logic [BITS-1:0] word
);

    localparam int unsigned AT_BITS = DEPTH > 1 ? $clog2(DEPTH) : 1;

    logic [AT_BITS-1:0] at, following;

    always_comb begin
        if (rst || at == AT_BITS'(DEPTH - 1)) following = '0;
        else                                  following = at + 1'b1;
    end

    always_ff @(posedge clk) begin
        if (rst || step) at <= following;
    end

    constant_rom #(.BITS(BITS), .DEPTH(DEPTH), .FILE(FILE), .STYLE(STYLE)) rom (
        .clk,
        .enable(rst || step),
        .address(following),
        .word
    );

endmodule
