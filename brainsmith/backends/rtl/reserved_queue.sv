// SPDX-License-Identifier: MIT
// Holds results until they are taken. Each has its place from when it is begun, which may be many cycles before it comes:
// nothing is begun without one. So no stage on the way here ever stands still, and no signal has to reach all of them in
// a cycle.
//
// A result comes out two cycles after it came in, from block RAM three.
module reserved_queue #(
    int unsigned BITS = 8,    // of a result
    int unsigned PLACES = 2,  // of results that are under way or wait: 2 or more
    bit KEPT = 0,             // `kept` has a result from the cycle after it came until the next one comes
    bit BLOCK = 0             // they wait in block RAM, else in LUTs, or of two in registers
) (
    input logic clk,
    input logic rst,

    output logic free,   // there is a place
    input  logic begun,  // a result has it from now on: only if there was one

    input logic [BITS-1:0] in_data,
    input logic            in_valid,
    input logic [BITS-1:0] kept,

    output logic [BITS-1:0] out_data,
    output logic            out_valid,
    input  logic            out_ready
);

    localparam int unsigned COUNT_BITS = $clog2(PLACES + 1);

    logic [COUNT_BITS-1:0] places;  // that are free
    logic taken;

    assign taken = out_valid && out_ready;

    always_ff @(posedge clk) begin
        if (rst) begin
            places <= COUNT_BITS'(PLACES);
            free <= 1'b1;
        end else if (taken && !begun) begin
            places <= places + 1'b1;
            free <= 1'b1;
        end else if (begun && !taken) begin
            places <= places - 1'b1;
            free <= places != COUNT_BITS'(1);
        end
    end

    // A result waits where it is kept while the one before waits for the output: no third one is under way then.
    if (KEPT && PLACES == 2) begin : gen_one_waits
        logic waits, move, unused;

        assign move = !out_valid || out_ready;
        assign unused = ^in_data;

        always_ff @(posedge clk) begin
            if (rst) waits <= 1'b0;
            else if (in_valid) waits <= 1'b1;
            else if (move) waits <= 1'b0;

            if (rst) out_valid <= 1'b0;
            else if (move) out_valid <= waits;

            if (move) out_data <= kept;
        end
    end else begin : gen_several_wait
        logic room, unused;

        assign unused = room ^ (^kept);  // there is always room

        row_queue #(.BITS(BITS), .DEPTH(PLACES), .BLOCK(BLOCK)) queue (
            .clk,
            .rst,
            .in_data,
            .in_valid,
            .in_ready(room),
            .out_data,
            .out_valid,
            .out_ready
        );
    end

endmodule
