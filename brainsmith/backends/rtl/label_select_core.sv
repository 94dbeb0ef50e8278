// SPDX-License-Identifier: MIT
// Finds the TOP greatest of LABELS values, and gives their numbers, that of the greatest first.
//
// The values of a beat are put in order stage by stage. Then they pass the best so far, one after the other: each keeps
// the greatest of what comes and itself, and hands the others on to the next, still in order, one cycle after it compared
// them. A value that equals one of the best goes behind it, so the lower number wins. A finished result moves to registers of its own, from which it goes out
// one number a cycle while the next values come in: a frame takes LABELS / PE cycles, or TOP if that is more.
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
    typedef struct packed {
        logic   known;  // there is such a value
        value_t value;
        logic   older;  // it was one of the best before, so it is before one that equals it
    } key_t;

    // With the sign bit of signed values turned round, unsigned comparisons give their order.
    localparam value_t TURNED = SIGNED != 0 ? value_t'(1) << (IN_BITS - 1) : '0;

    logic enable, come_valid, take, last, finished, room;
    label_t lowest;  // number of the first value of the beat that is merged

    // The greatest values of a beat, in order, and where in the beat they were.
    value_t [NEW-1:0] come;
    label_t [NEW-1:0] come_label;

    if (PE == 1) begin : g_one
        assign come       = in_data[0] ^ TURNED;
        assign come_label = lowest;
        assign come_valid = in_valid;
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
        assign come_valid = valid[STAGES-1];
    end

    // Where the last beat of a vector is: before each of the best, or behind the last one.
    logic [TOP:0] last_at;

    assign last_at[0] = come_valid && last;

    for (genvar at = 0; at < TOP; at++) begin : g_best
        localparam int unsigned COUNT = NEW < TOP - at ? NEW : TOP - at;         // values that come
        localparam int unsigned ON = NEW < TOP - at - 1 ? NEW : TOP - at - 1;  // that are handed on

        key_t   [COUNT-1:0] key;
        label_t [COUNT-1:0] key_label;
        logic   [COUNT-1:0] ahead;  // which of them are before the best
        logic               known;  // there is a best of this vector
        value_t             best;
        label_t             label;
        label_t [at:0]      found;  // the numbers of the best so far, as of the beat that is behind this one

        if (at == 0) begin : g_from_beat
            for (genvar i = 0; i < COUNT; i++) begin : g_key
                assign key[i] = '{known: come_valid, value: come[i], older: 1'b0};
            end
            assign key_label = come_label;
        end else begin : g_from_best
            assign key       = g_best[at-1].g_on.on;
            assign key_label = g_best[at-1].g_on.on_label;

            label_t [at-1:0] earlier;  // they wait as long as what is handed on

            always_ff @(posedge clk) if (enable) {found[at-1:0], earlier} <= {earlier, g_best[at-1].found};
        end

        for (genvar i = 0; i < COUNT; i++) begin : g_ahead
            // The best less what comes: if that borrows, this is greater, or there is no best yet.
            logic [IN_BITS+2:0] above;
            assign above    = {1'b0, known, best, 1'b0} - {2'b01, key[i].value, key[i].older};
            assign ahead[i] = key[i].known && above[IN_BITS+2];
        end

        assign found[at] = label;

        always_ff @(posedge clk) begin
            if (enable && key[0].known) known <= !last_at[at];
            if (enable && ahead[0]) begin
                best  <= key[0].value;
                label <= key_label[0];
            end
            if (rst) known <= 1'b0;
        end

        if (ON == 0) begin : g_end
            always_ff @(posedge clk) begin
                if (rst)         last_at[at+1] <= 1'b0;
                else if (enable) last_at[at+1] <= last_at[at];
            end
        end else begin : g_on
            // What was compared, and with what.
            key_t   [COUNT-1:0] came;
            label_t [COUNT-1:0] came_label;
            logic   [COUNT-1:0] went_ahead;
            key_t               was;
            label_t             was_label;
            logic               was_last;

            key_t   [ON-1:0] on;
            label_t [ON-1:0] on_label;

            always_ff @(posedge clk) begin
                if (enable) begin
                    came       <= key;
                    came_label <= key_label;
                    went_ahead <= ahead;
                    was        <= '{known: known, value: best, older: 1'b1};
                    was_label  <= label;
                end
                if (rst) begin
                    was.known <= 1'b0;
                    for (int i = 0; i < COUNT; i++) came[i].known <= 1'b0;
                end
                if (rst)         {last_at[at+1], was_last} <= '0;
                else if (enable) {last_at[at+1], was_last} <= {was_last, last_at[at]};
            end

            for (genvar i = 0; i < ON; i++) begin : g_next  // what is behind the first i + 1 of all
                always_ff @(posedge clk) begin
                    if (enable) begin
                        if (i + 1 < COUNT && went_ahead[i+1 < COUNT ? i + 1 : i]) begin
                            on[i]       <= came[i+1 < COUNT ? i + 1 : i];
                            on_label[i] <= came_label[i+1 < COUNT ? i + 1 : i];
                        end else if (went_ahead[i]) begin
                            on[i]       <= was;
                            on_label[i] <= was_label;
                        end else begin
                            on[i]       <= came[i];
                            on_label[i] <= came_label[i];
                        end
                    end
                    if (rst) on[i].known <= 1'b0;
                end
            end
        end
    end

    label_t [TOP-1:0] given;    // what has yet to go out, the next one lowest
    logic   [TOP-1:0] pending;  // which of them there are

    assign last     = lowest == label_t'(LABELS - PE);
    assign finished = last_at[TOP];
    assign room     = (TOP == 1 || !pending[TOP > 1 ? 1 : 0]) && (!pending[0] || out_ready);
    assign enable   = !finished || room;
    assign in_ready = enable;
    assign take     = come_valid && enable;

    assign out_data  = OUT_BITS'(given[0]);
    assign out_valid = pending[0];

    always_ff @(posedge clk) begin
        if (take) begin
            lowest <= last ? '0 : lowest + label_t'(PE);
        end
        if (out_valid && out_ready) begin
            given   <= given >> LABEL_BITS;
            pending <= pending >> 1;
        end
        if (finished && room) begin
            given   <= g_best[TOP-1].found;
            pending <= '1;
        end
        if (rst) begin
            lowest  <= '0;
            pending <= '0;
        end
    end

endmodule
