// SPDX-License-Identifier: MIT
// Combines two tensors value by value, PE of them a beat: two streams, or a stream and a table.
//
// Both streams are taken in the same cycle, so neither is lost when the other is late; the results are registered. A
// table is read in step with the stream, ahead of it: the word of the next beat is fetched while this one is used.
module elementwise_core #(
    parameter    OPERATION = "ADD",  // or "MUL", "SUB" (the first less the second), "RSB" (the reverse of it), "MAX";
                                  // "SEL": the second is two results, and the first, of one bit, says which
    int unsigned PE = 1,          // values in a beat
    int unsigned FED = 2,         // streams: 2, or 1 if the second operand is a table
    int unsigned A_BITS = 8,      // of a value of the first operand
    int unsigned A_KIND = 1,      // 0 is unsigned, 1 signed, 2 one bit for -1 or 1
    int unsigned B_BITS = 8,
    int unsigned B_KIND = 1,
    int unsigned OUT_BITS = 9,    // of a result, which fits
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
    logic [PE-1:0][OUT_BITS-1:0] results;
    logic                        ready, taken;

    assign a        = in_data[B_AT-1:0];
    assign taken    = &in_valid && ready && (out_ready || !out_valid);
    assign in_ready = {FED{taken}};

    if (FED > 1) begin : gen_stream
        assign b     = in_data[IN_BITS-1:B_AT];
        assign ready = 1'b1;
    end else begin : gen_table
        table_in_step #(.BITS(PE * B_BITS), .DEPTH(DEPTH), .FILE(TABLE), .STYLE(STYLE)) words (
            .clk,
            .rst,
            .step(taken),
            .ready,
            .word(b)
        );
    end

    for (genvar i = 0; i < PE; i++) begin : gen_lanes
        if (OPERATION == "SEL") begin : gen_pick
            assign results[i] = a[i][0] ? b[i][B_BITS-1:OUT_BITS] : b[i][OUT_BITS-1:0];
        end else if (OPERATION == "MUL") begin : gen_mul
            integer_product #(
                .A_BITS(A_BITS), .A_KIND(A_KIND), .B_BITS(B_BITS), .B_KIND(B_KIND), .OUT_BITS(OUT_BITS)
            ) lane (
                .a(a[i]), .b(b[i]), .product(results[i])
            );
        end else begin : gen_sum
            logic signed [A_BITS:0]     one;
            logic signed [B_BITS:0]     other;
            logic signed [OUT_BITS-1:0] left, right;

            assign one   = A_KIND == 2 ? (A_BITS + 1)'({!a[i][0], 1'b1}) : {A_KIND != 0 & a[i][A_BITS-1], a[i]};
            assign other = B_KIND == 2 ? (B_BITS + 1)'({!b[i][0], 1'b1}) : {B_KIND != 0 & b[i][B_BITS-1], b[i]};
            assign left  = OUT_BITS'(one);
            assign right = OUT_BITS'(other);

            if (OPERATION == "SUB") begin : gen_sub
                assign results[i] = left - right;
            end else if (OPERATION == "RSB") begin : gen_reverse
                assign results[i] = right - left;
            end else if (OPERATION == "MAX") begin : gen_max
                localparam int unsigned WIDE = (A_BITS > B_BITS ? A_BITS : B_BITS) + 1;

                localparam logic [WIDE-1:0] SIGN = {1'b1, {WIDE - 1{1'b0}}};  // turned round, for an unsigned comparison

                assign results[i] = (WIDE'(one) ^ SIGN) > (WIDE'(other) ^ SIGN) ? left : right;
            end else begin : gen_add
                assign results[i] = left + right;
            end
        end
    end

    always_ff @(posedge clk) begin
        if (taken) out_data <= results;

        if (rst)            out_valid <= 1'b0;
        else if (taken)     out_valid <= 1'b1;
        else if (out_ready) out_valid <= 1'b0;
    end

endmodule
