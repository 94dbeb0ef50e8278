// SPDX-License-Identifier: MIT
// Holds beats that wait, such as those of rows whose statistics are still being computed: first in, first out.
//
// A memory whose read is registered; a beat comes out two cycles after it went in, and from then on one per cycle. Block
// RAM, whose words come late in a cycle, has one more register behind it, and a beat comes a cycle later.
module row_queue #(
    int unsigned BITS = 8,   // of a beat
    int unsigned DEPTH = 2,  // beats in the memory, 2 or more; one more is in each register behind it
    bit BLOCK = 0            // in block RAM, else in LUTs
) (
    input logic clk,
    input logic rst,

    input  logic [BITS-1:0] in_data,
    input  logic            in_valid,
    output logic            in_ready,

    output logic [BITS-1:0] out_data,
    output logic            out_valid,
    input  logic            out_ready
);

    localparam int unsigned AT_BITS = $clog2(DEPTH);
    localparam int unsigned COUNT_BITS = $clog2(DEPTH + 1);

    logic [AT_BITS-1:0] write_at, read_at;
    logic [COUNT_BITS-1:0] held;  // in the memory
    logic write, read;
    logic [BITS-1:0] word;  // that was read
    logic read_valid, read_taken;
    logic room, some;  // the memory is not full, and not empty: kept beside the count, so that no path begins with it

    assign in_ready = room;
    assign write = in_valid && room;
    assign read = some && (!read_valid || read_taken);

    function automatic logic [AT_BITS-1:0] following(input logic [AT_BITS-1:0] at);
        return at == AT_BITS'(DEPTH - 1) ? '0 : at + 1'b1;
    endfunction

    always_ff @(posedge clk) begin
        if (rst) begin
            write_at <= '0;
            read_at <= '0;
            held <= '0;
            room <= 1'b1;
            some <= 1'b0;
            read_valid <= 1'b0;
        end else begin
            if (write) write_at <= following(write_at);
            if (read) read_at <= following(read_at);
            if (write && !read) begin
                held <= held + 1'b1;
                room <= held != COUNT_BITS'(DEPTH - 1);
                some <= 1'b1;
            end
            if (read && !write) begin
                held <= held - 1'b1;
                room <= 1'b1;
                some <= held != COUNT_BITS'(1);
            end
            if (read) read_valid <= 1'b1;
            else if (read_taken) read_valid <= 1'b0;
        end
    end

    page_memory #(.WORDS(DEPTH), .BITS(BITS), .BLOCK(BLOCK)) memory (
        .clk,
        .write,
        .write_at,
        .write_data(in_data),
        .read,
        .read_at,
        .read_data(word)
    );

    if (BLOCK) begin : gen_behind
        assign read_taken = !out_valid || out_ready;

        always_ff @(posedge clk) begin
            if (read_taken) out_data <= word;

            if (rst) out_valid <= 1'b0;
            else if (read_taken) out_valid <= read_valid;
        end
    end else begin : gen_direct
        assign read_taken = out_ready;
        assign out_data = word;
        assign out_valid = read_valid;
    end

endmodule
