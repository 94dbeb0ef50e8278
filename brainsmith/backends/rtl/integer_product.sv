// SPDX-License-Identifier: MIT
// The product of two integers, without a register. By a factor of one bit for -1 or 1 nothing is multiplied.
module integer_product #(
    int unsigned A_BITS = 8,  // of a factor
    int unsigned A_KIND = 1,  // 0 is unsigned, 1 signed, 2 one bit for -1 or 1
    int unsigned B_BITS = 8,
    int unsigned B_KIND = 1,
    int unsigned OUT_BITS = A_BITS + B_BITS  // of the product, which fits
) (
    input  logic [A_BITS-1:0]   a,
    input  logic [B_BITS-1:0]   b,
    output logic [OUT_BITS-1:0] product
);

    if (B_KIND == 2) begin : gen_sign
        localparam int unsigned WIDTH = A_KIND == 1 ? A_BITS : A_BITS + 1;

        logic [WIDTH-1:0]    signed_a;
        logic [OUT_BITS-1:0] extended;

        assign signed_a = A_KIND == 2 ? WIDTH'({!a[0], 1'b1}) : WIDTH'(a);
        assign extended = OUT_BITS'(signed'(signed_a));
        assign product  = (extended ^ {OUT_BITS{!b[0]}}) + OUT_BITS'(!b[0]);
    end else if (A_KIND == 2) begin : gen_turned
        integer_product #(
            .A_BITS(B_BITS), .A_KIND(B_KIND), .B_BITS(A_BITS), .B_KIND(A_KIND), .OUT_BITS(OUT_BITS)
        ) turned (
            .a(b), .b(a), .product
        );
    end else if (A_KIND == 0 && B_KIND == 0) begin : gen_unsigned
        assign product = OUT_BITS'(a) * OUT_BITS'(b);
    end else begin : gen_signed
        localparam int unsigned A_WIDTH = A_KIND == 1 ? A_BITS : A_BITS + 1;
        localparam int unsigned B_WIDTH = B_KIND == 1 ? B_BITS : B_BITS + 1;

        logic [A_WIDTH-1:0] one;
        logic [B_WIDTH-1:0] other;

        assign one     = A_WIDTH'(a);
        assign other   = B_WIDTH'(b);
        assign product = OUT_BITS'(signed'(one)) * OUT_BITS'(signed'(other));
    end

endmodule
