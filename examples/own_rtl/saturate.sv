// SPDX-License-Identifier: MIT
// Clips signed values to fewer bits, PE of them in a beat; one register, one beat per cycle.
module saturate #(
    int unsigned PE = 2,
    int unsigned IN_BITS = 8,
    int unsigned OUT_BITS = 4
) (
    input  logic clk,
    input  logic rst_n,

    input  logic [PE-1:0][IN_BITS-1:0] in_data,
    input  logic                       in_valid,
    output logic                       in_ready,

    output logic [PE-1:0][OUT_BITS-1:0] out_data,
    output logic                        out_valid,
    input  logic                        out_ready,

    output logic overflow  // a value of this beat was clipped
);

    logic [PE-1:0] clipped;

    assign in_ready = !out_valid || out_ready;

    always_ff @(posedge clk) begin
        if (!rst_n) out_valid <= 1'b0;
        else if (in_ready) out_valid <= in_valid;
    end

    for (genvar i = 0; i < PE; i++) begin : gen_lanes
        // All bits that are lost are copies of the sign where the value fits.
        logic [IN_BITS-OUT_BITS:0] high;
        assign high       = in_data[i][IN_BITS-1:OUT_BITS-1];
        assign clipped[i] = high != '0 && high != '1;

        always_ff @(posedge clk) begin
            if (in_ready) begin
                out_data[i] <= clipped[i] ? {high[IN_BITS-OUT_BITS], {(OUT_BITS - 1){!high[IN_BITS-OUT_BITS]}}}
                                          : in_data[i][OUT_BITS-1:0];
            end
        end
    end

    always_ff @(posedge clk) if (in_ready) overflow <= |clipped;

endmodule
