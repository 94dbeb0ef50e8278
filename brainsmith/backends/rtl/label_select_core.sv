// SPDX-License-Identifier: MIT
// Finds the TOP greatest of LABELS values, and gives their numbers, that of the greatest first.
//
// The best so far are kept in order, and every value that comes is put where it belongs; a value that equals one
// of them goes behind it, so the lower number wins. A finished result moves to registers of its own, from which it
// goes out one number a cycle while the next values come in: a frame takes LABELS / PE cycles, or TOP if that is more.
module label_select_core #(
    int unsigned LABELS   = 10,  // values of a frame
    int unsigned PE       = 1,   // values of a beat; divides LABELS
    int unsigned TOP      = 1,   // results of a frame, not more than LABELS
    int unsigned SIGNED   = 0,   // 1: values are in two's complement
    int unsigned IN_BITS  = 8,
    int unsigned OUT_BITS = 8    // hold LABELS - 1
) (
    input  logic clk,
    input  logic rst,

    input  logic [PE-1:0][IN_BITS-1:0] in_data,
    input  logic                       in_valid,
    output logic                       in_ready,

    output logic [OUT_BITS-1:0] out_data,
    output logic                out_valid,
    input  logic                out_ready
);

    localparam int unsigned LABEL_BITS = LABELS > 1 ? $clog2(LABELS) : 1;
    typedef logic [LABEL_BITS-1:0] label_t;
    typedef logic [IN_BITS-1:0] value_t;

    // With the sign bit of signed values turned round, unsigned comparisons give their order.
    localparam value_t TURNED = SIGNED != 0 ? value_t'(1) << (IN_BITS - 1) : '0;

    label_t lowest;  // number of the first value of the beat that is awaited
    logic   first, last, take, room;

    value_t [TOP-1:0] best, best_next;    // the greatest so far, from the greatest down
    label_t [TOP-1:0] label, label_next;  // their numbers
    logic   [TOP-1:0] known, known_next;  // of them, those that there are

    label_t [TOP-1:0] given;   // what has yet to go out, the next one lowest
    logic   [TOP-1:0] pending;  // which of them there are

    assign first    = lowest == '0;
    assign last     = lowest == label_t'(LABELS - PE);
    assign room     = pending == '0 || (pending == TOP'(1) && out_ready);
    assign in_ready = !last || room;
    assign take     = in_valid && in_ready;

    assign out_data  = OUT_BITS'(given[0]);
    assign out_valid = pending[0];

    always_comb begin
        best_next  = best;
        label_next = label;
        known_next = first ? '0 : known;
        for (int lane = 0; lane < PE; lane++) begin
            value_t value;
            logic [TOP-1:0] beaten;  // once one is beaten, so are all behind it
            value = in_data[lane] ^ TURNED;
            for (int place = 0; place < TOP; place++) beaten[place] = !known_next[place] || value > best_next[place];
            for (int place = TOP - 1; place > 0; place--) begin
                if (beaten[place]) begin
                    best_next[place]  = beaten[place-1] ? best_next[place-1] : value;
                    label_next[place] = beaten[place-1] ? label_next[place-1] : lowest + label_t'(lane);
                    known_next[place] = beaten[place-1] ? known_next[place-1] : 1'b1;
                end
            end
            if (beaten[0]) begin
                best_next[0]  = value;
                label_next[0] = lowest + label_t'(lane);
                known_next[0] = 1'b1;
            end
        end
    end

    always_ff @(posedge clk) begin
        if (take) begin
            best   <= best_next;
            label  <= label_next;
            known  <= known_next;
            lowest <= last ? '0 : lowest + label_t'(PE);
        end
        if (out_valid && out_ready) begin
            given   <= given >> LABEL_BITS;
            pending <= pending >> 1;
        end
        if (take && last) begin
            given   <= label_next;
            pending <= '1;
        end
        if (rst) begin
            lowest  <= '0;
            pending <= '0;
        end
    end

endmodule
