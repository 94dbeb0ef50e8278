// SPDX-License-Identifier: MIT
// Finds the TOP greatest of LABELS values, and gives their numbers, that of the greatest first.
//
// The values of a beat are put in order stage by stage. Then they are merged with the best so far, which are in order too,
// in one cycle: each of the ones is compared with each of the others, and how many are before it is its place. A value
// that equals one of the best goes behind it, so the lower number wins. A finished result moves to registers of its own,
// from which it goes out one number a cycle while the next values come in: a frame takes LABELS / PE cycles, or TOP if
// that is more.
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
    localparam int unsigned LANE_BITS = $clog2(PE);
    localparam int unsigned STAGES = TOP == 1 ? LANE_BITS : LANE_BITS * (LANE_BITS + 1) / 2;  // of label_select_order
    localparam int unsigned NEW = PE < TOP ? PE : TOP;  // values of a beat that may be among the best
    typedef logic [LABEL_BITS-1:0] label_t;
    typedef logic [IN_BITS-1:0] value_t;

    // With the sign bit of signed values turned round, unsigned comparisons give their order.
    localparam value_t TURNED = SIGNED != 0 ? value_t'(1) << (IN_BITS - 1) : '0;

    logic enable, take, last, finished, room;
    label_t lowest;  // number of the first value of the beat that is merged

    // The greatest values of a beat, in order, and where in the beat they were.
    value_t [NEW-1:0] come;
    label_t [NEW-1:0] come_label;

    if (PE == 1) begin : g_one
        assign come       = in_data[0] ^ TURNED;
        assign come_label = lowest;
        assign take       = in_valid && enable;
    end else begin : g_order
        localparam int unsigned BITS = IN_BITS + LANE_BITS;

        logic [PE-1:0][BITS-1:0] numbers;  // of equal values that of the lower lane is greater
        logic [NEW-1:0][BITS-1:0] ordered;
        logic [STAGES-1:0] valid;

        for (genvar lane = 0; lane < PE; lane++) begin : g_lane
            assign numbers[lane] = {in_data[lane] ^ TURNED, ~LANE_BITS'(lane)};
        end

        label_select_order #(
            .COUNT(PE), .FIRST(NEW), .BITS(BITS)
        ) order (
            .clk, .enable, .numbers, .ordered
        );

        for (genvar at = 0; at < NEW; at++) begin : g_come
            assign come[at]       = ordered[at][BITS-1:LANE_BITS];
            assign come_label[at] = lowest + label_t'({~ordered[at][LANE_BITS-1:0]});
        end

        always_ff @(posedge clk) begin
            if (rst) valid <= '0;
            else if (enable) valid <= STAGES'({valid, in_valid});
        end
        assign take = valid[STAGES-1] && enable;
    end

    value_t [TOP-1:0] best, best_next;    // the greatest so far, from the greatest down
    label_t [TOP-1:0] label, label_next;  // their numbers
    logic   [TOP-1:0] known, known_next;  // of them, those that there are
    logic   [TOP-1:0][NEW-1:0] beaten;    // whether each of the best goes behind each of those that come

    always_comb begin
        for (int i = 0; i < TOP; i++) begin
            for (int j = 0; j < NEW; j++) beaten[i][j] = !known[i] || come[j] > best[i];
        end
        best_next  = '0;
        label_next = '0;
        known_next = '0;
        for (int place = 0; place < TOP; place++) begin
            for (int j = 0; j < NEW && j <= place; j++) begin  // behind place - j of the best
                if ((place == j || !beaten[place-j-1][j]) && beaten[place-j][j]) begin
                    best_next[place]  |= come[j];
                    label_next[place] |= come_label[j];
                    known_next[place] |= 1'b1;
                end
            end
            for (int j = 0; j <= NEW && j <= place; j++) begin  // behind j of those that come
                if ((j == 0 || beaten[place-j][j-1]) && (j == NEW || !beaten[place-j][j])) begin
                    best_next[place]  |= best[place-j];
                    label_next[place] |= label[place-j];
                    known_next[place] |= known[place-j];
                end
            end
        end
    end

    label_t [TOP-1:0] given;    // what has yet to go out, the next one lowest
    logic   [TOP-1:0] pending;  // which of them there are

    assign last     = lowest == label_t'(LABELS - PE);
    assign room     = pending == '0 || (pending == TOP'(1) && out_ready);
    assign enable   = !finished || room;
    assign in_ready = enable;

    assign out_data  = OUT_BITS'(given[0]);
    assign out_valid = pending[0];

    always_ff @(posedge clk) begin
        if (enable) finished <= take && last;
        if (take) begin
            best   <= best_next;
            label  <= label_next;
            known  <= last ? '0 : known_next;
            lowest <= last ? '0 : lowest + label_t'(PE);
        end
        if (out_valid && out_ready) begin
            given   <= given >> LABEL_BITS;
            pending <= pending >> 1;
        end
        if (finished && room) begin
            given   <= label;
            pending <= '1;
        end
        if (rst) begin
            lowest   <= '0;
            known    <= '0;
            finished <= '0;
            pending  <= '0;
        end
    end

endmodule
