// SPDX-License-Identifier: MIT
// Adds two tensors value by value, PE of them a beat: two streams, or a stream and a table.
//
// Both streams are taken in the same cycle, so neither is lost when the other is late; the sums are registered. A table
// is read in step with the stream, one word ahead: the word of the next beat is fetched while this one is added.
module elementwise_add_core #(
    int unsigned PE = 1,          // values in a beat
    int unsigned FED = 2,         // streams: 2, or 1 if the second operand is a table
    int unsigned A_BITS = 8,      // of a value of the first operand, and whether it is in two's complement
    bit          A_SIGNED = 1,
    int unsigned B_BITS = 8,
    bit          B_SIGNED = 1,
    int unsigned OUT_BITS = 9,    // at least as many as the sums have
    int unsigned DEPTH = 1,       // beats until the table begins again
    parameter    TABLE = "",      // its content
    parameter    STYLE = "distributed",

    localparam int unsigned B_AT = PE * A_BITS,
    localparam int unsigned IN_BITS = B_AT + (FED > 1 ? PE * B_BITS : 0)
) (
    input  logic clk,
    input  logic rst,

    input  logic [IN_BITS-1:0] in_data,  // the first operand's beat in the lower bits
    input  logic [FED-1:0]     in_valid,
    output logic [FED-1:0]     in_ready,

    output logic [PE-1:0][OUT_BITS-1:0] out_data,
    output logic                        out_valid,
    input  logic                        out_ready
);

    logic [PE-1:0][A_BITS-1:0]   a;
    logic [PE-1:0][B_BITS-1:0]   b;
    logic [PE-1:0][OUT_BITS-1:0] sums;
    logic                        taken;

    assign a        = in_data[B_AT-1:0];
    assign taken    = &in_valid && (out_ready || !out_valid);
    assign in_ready = {FED{taken}};

    if (FED > 1) begin : gen_stream
        assign b = in_data[IN_BITS-1:B_AT];
    end else begin : gen_table
        table_in_step #(.BITS(PE * B_BITS), .DEPTH(DEPTH), .FILE(TABLE), .STYLE(STYLE)) words (
            .clk,
            .rst,
            .step(taken),
            .word(b)
        );
    end

    for (genvar i = 0; i < PE; i++) begin : gen_lanes
        logic signed [OUT_BITS-1:0] left, right;
        assign left    = OUT_BITS'(signed'({A_SIGNED & a[i][A_BITS-1], a[i]}));
        assign right   = OUT_BITS'(signed'({B_SIGNED & b[i][B_BITS-1], b[i]}));
        assign sums[i] = left + right;
    end

    always_ff @(posedge clk) begin
        if (taken) out_data <= sums;

        if (rst)            out_valid <= 1'b0;
        else if (taken)     out_valid <= 1'b1;
        else if (out_ready) out_valid <= 1'b0;
    end

endmodule
