// SPDX-License-Identifier: MIT
// Gives each vector of a stream several times, and says which of its beats is the last.
//
// There is room for two vectors: while one is given, the next comes in, so that vectors follow each other without a
// gap, and a source that delivers slowly but steadily never has to wait.
module binary_mvau_replay #(
    int unsigned BITS = 8,   // of a beat
    int unsigned BEATS = 4,  // of a vector
    int unsigned TIMES = 2   // how often each is given
) (
    input  logic clk,
    input  logic rst,

    input  logic [BITS-1:0] in_data,
    input  logic            in_valid,
    output logic            in_ready,

    output logic [BITS-1:0] out_data,
    output logic            out_last,
    output logic            out_valid,
    input  logic            out_ready
);

    localparam int unsigned BEAT_BITS = BEATS > 1 ? $clog2(BEATS) : 1;

    logic [BEAT_BITS-1:0] beat;  // of the vector that is given
    logic                 given;

    assign given    = out_valid && out_ready;
    assign out_last = beat == BEAT_BITS'(BEATS - 1);

    always_ff @(posedge clk) begin
        if (rst)        beat <= '0;
        else if (given) beat <= out_last ? '0 : beat + 1'b1;
    end

    if (TIMES == 1) begin : g_wire
        assign out_data  = in_data;
        assign out_valid = in_valid;
        assign in_ready  = out_ready;
    end else begin : g_memory
        localparam int unsigned PLACES = 2 * BEATS;
        localparam int unsigned PLACE_BITS = $clog2(PLACES);
        localparam int unsigned TIME_BITS = $clog2(TIMES);

        (* ram_style = "distributed" *)
        logic [BITS-1:0]       memory[PLACES];
        logic [PLACE_BITS-1:0] write_at, read_at;
        logic [BEAT_BITS-1:0]  write_beat;
        logic [TIME_BITS-1:0]  turn;
        logic [1:0]            vectors;  // whole ones in the memory
        logic                  taken, arrives, leaves;

        assign in_ready  = vectors != 2;
        assign out_valid = vectors != 0;
        assign out_data  = memory[read_at];
        assign taken     = in_valid && in_ready;
        assign arrives   = taken && write_beat == BEAT_BITS'(BEATS - 1);
        assign leaves    = given && out_last && turn == TIME_BITS'(TIMES - 1);

        always_ff @(posedge clk) begin
            if (taken) memory[write_at] <= in_data;
        end

        always_ff @(posedge clk) begin
            if (rst) begin
                write_at   <= '0;
                write_beat <= '0;
                read_at    <= '0;
                turn       <= '0;
                vectors    <= '0;
            end else begin
                if (taken) begin
                    write_at   <= write_at == PLACE_BITS'(PLACES - 1) ? '0 : write_at + 1'b1;
                    write_beat <= arrives ? '0 : write_beat + 1'b1;
                end
                if (given) begin
                    if (out_last && !leaves)                        read_at <= read_at - PLACE_BITS'(BEATS - 1);
                    else if (read_at == PLACE_BITS'(PLACES - 1))    read_at <= '0;
                    else                                            read_at <= read_at + 1'b1;
                    if (out_last) turn <= leaves ? '0 : turn + 1'b1;
                end
                vectors <= vectors + 2'(arrives) - 2'(leaves);
            end
        end
    end

endmodule
