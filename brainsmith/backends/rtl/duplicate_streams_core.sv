// SPDX-License-Identifier: MIT
// Gives every beat of one stream to several: a beat is taken when the last of them has taken it.
//
// Nothing is stored but which outputs have taken the present beat, so it runs at one beat per cycle, and an output
// that is ready early does not wait for the others.
module duplicate_streams_core #(
    int unsigned COUNT = 2,  // outputs
    int unsigned BITS = 8    // of a beat
) (
    input  logic clk,
    input  logic rst,

    input  logic [BITS-1:0] in_data,
    input  logic            in_valid,
    output logic            in_ready,

    output logic [COUNT-1:0][BITS-1:0] out_data,
    output logic [COUNT-1:0]           out_valid,
    input  logic [COUNT-1:0]           out_ready
);

    logic [COUNT-1:0] taken;  // these outputs have the present beat already

    assign out_data  = {COUNT{in_data}};
    assign out_valid = {COUNT{in_valid}} & ~taken;
    assign in_ready  = &(taken | out_ready);

    always_ff @(posedge clk) begin
        if (rst || (in_valid && in_ready)) taken <= '0;
        else                               taken <= taken | (out_valid & out_ready);
    end

endmodule
