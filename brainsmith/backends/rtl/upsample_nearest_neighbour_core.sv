// SPDX-License-Identifier: MIT
// Repeats each pixel of an image WIDE times in its row, and each row HIGH times.
//
// One row lies in a memory. A pixel's place is free again once it was read for the last time, so the next row comes
// in while the last copies of the row before go out. The output never waits as long as the input does not. Behind block
// RAM there is a register, since its words come late in a cycle.
module upsample_nearest_neighbour_core #(
    int unsigned BITS  = 8,  // of a beat
    int unsigned FOLDS = 1,  // beats of a pixel
    int unsigned WIDTH = 4,  // pixels of a row that comes in
    int unsigned WIDE  = 2,  // copies of a pixel in a row
    int unsigned HIGH  = 2,  // copies of a row
    bit          BLOCK = 0   // the row, of two beats or more, is in block RAM, else in LUTs
) (
    input  logic clk,
    input  logic rst,

    input  logic [BITS-1:0] in_data,
    input  logic            in_valid,
    output logic            in_ready,

    output logic [BITS-1:0] out_data,
    output logic            out_valid,
    input  logic            out_ready
);

    localparam int unsigned ROW        = WIDTH * FOLDS;
    localparam int unsigned PLACE_BITS = ROW > 1 ? $clog2(ROW) : 1;
    localparam int unsigned COUNT_BITS = $clog2(ROW + 1);
    localparam int unsigned FOLD_BITS  = FOLDS > 1 ? $clog2(FOLDS) : 1;
    localparam int unsigned WIDE_BITS  = WIDE > 1 ? $clog2(WIDE) : 1;
    localparam int unsigned HIGH_BITS  = HIGH > 1 ? $clog2(HIGH) : 1;
    typedef logic [PLACE_BITS-1:0] place_t;
    typedef logic [COUNT_BITS-1:0] count_t;
    typedef logic [FOLD_BITS-1:0]  fold_t;
    typedef logic [WIDE_BITS-1:0]  wide_t;
    typedef logic [HIGH_BITS-1:0]  high_t;

    place_t put, get;  // where the next beat is written, and read
    fold_t  fold;      // of the beat to be read
    wide_t  across;    // copies of its pixel that went before, in this row
    high_t  down;      // copies of its row that went before
    count_t kept;      // beats that were written, and not yet read for the last time
    count_t unread;    // beats that were written, and never read

    count_t kept_more, kept_less, unread_more, unread_less;

    assign kept_more   = kept + 1'b1;
    assign kept_less   = kept - 1'b1;
    assign unread_more = unread + 1'b1;
    assign unread_less = unread - 1'b1;

    logic take, fetch, fresh, final_copy;
    logic last_fold, last_across, last_down, row_ends;

    assign last_fold   = fold == fold_t'(FOLDS - 1);
    assign last_across = across == wide_t'(WIDE - 1);
    assign last_down   = down == high_t'(HIGH - 1);
    assign row_ends    = last_across && get == place_t'(ROW - 1);
    assign fresh       = across == '0 && down == '0;
    assign final_copy  = last_across && last_down;

    logic move;  // a beat goes to the output

    assign move = !out_valid || out_ready;
    assign take = in_valid && in_ready;

    if (BLOCK) begin : in_blocks
        logic there;  // a beat is fetched
        logic [BITS-1:0] fetched;

        // A place is free a cycle after it was read for the last time, so none is written and read at once.
        assign fetch    = (!fresh || unread != '0) && (!there || move);
        assign in_ready = kept != count_t'(ROW);

        page_memory #(
            .WORDS(ROW),
            .BITS(BITS),
            .BLOCK(1)
        ) row (
            .clk,
            .write(take),
            .write_at(put),
            .write_data(in_data),
            .read(fetch),
            .read_at(get),
            .read_data(fetched)
        );

        always_ff @(posedge clk) begin
            if (rst) {there, out_valid} <= '0;
            else begin
                if (!there || move) there <= fetch;
                if (move) out_valid <= there;
            end
            if (move) out_data <= fetched;
        end
    end else begin : in_luts
        // In a full row, the place that is read for the last time is the one that is written next: what is read is what
        // was there before.
        assign fetch    = (!fresh || unread != '0) && move;
        assign in_ready = kept != count_t'(ROW) || (fetch && final_copy);

        (* ram_style = "distributed" *) logic [BITS-1:0] row[ROW];

        always_ff @(posedge clk) begin
            if (take) row[put] <= in_data;
            if (fetch) out_data <= row[get];
            if (rst)       out_valid <= 1'b0;
            else if (move) out_valid <= fetch;
        end
    end

    always_ff @(posedge clk) begin
        if (take) put <= put == place_t'(ROW - 1) ? '0 : put + 1'b1;
        if (fetch) begin
            fold <= last_fold ? '0 : fold + 1'b1;
            if (last_fold) across <= last_across ? '0 : across + 1'b1;
            if (row_ends) down <= last_down ? '0 : down + 1'b1;
            if (row_ends) get <= '0;
            else if (last_fold && !last_across) get <= get - place_t'(FOLDS - 1);
            else get <= get + 1'b1;
        end
        // Both neighbours are known before it is, which of them is next.
        if (take != (fetch && final_copy)) kept <= take ? kept_more : kept_less;
        if (take != (fetch && fresh)) unread <= take ? unread_more : unread_less;
        if (rst) begin
            put    <= '0;
            get    <= '0;
            fold   <= '0;
            across <= '0;
            down   <= '0;
            kept   <= '0;
            unread <= '0;
        end
    end

endmodule
