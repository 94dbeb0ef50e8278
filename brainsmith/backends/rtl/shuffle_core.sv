// SPDX-License-Identifier: MIT
// Gives the beats of a page in another order: a page is written as it comes, and read by a nest of up to five loops.
//
// There are two pages in the memory, and the next one is written while one is read, so beats come and go in every
// cycle. A read's address is the last one plus a constant, that of the innermost loop that goes on. Behind block RAM
// there is a register, since its words come late in a cycle; where several hold the words of one bit, each has one, and
// which of them is chosen goes to another.
module shuffle_core #(
    int unsigned BITS = 8,    // of a beat
    int unsigned WORDS = 6,   // beats in a page; 1 makes the core a pair of wires
    int unsigned SIZE0 = 1,   // turns of the outermost loop ...
    int unsigned SIZE1 = 1,
    int unsigned SIZE2 = 1,
    int unsigned SIZE3 = 2,
    int unsigned SIZE4 = 3,   // ... and of the innermost one; WORDS is their product
    int unsigned STRIDE0 = 0, // how far apart in the page the beats of successive turns are
    int unsigned STRIDE1 = 0,
    int unsigned STRIDE2 = 0,
    int unsigned STRIDE3 = 1,
    int unsigned STRIDE4 = 2,
    bit BLOCK = 0,            // pages in block RAM, else in LUTs
    int unsigned BANK = 16384 // words of one block RAM, a power of 2
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

    localparam int unsigned LOOPS = 5;
    localparam logic [LOOPS-1:0][31:0] SIZE = {SIZE4, SIZE3, SIZE2, SIZE1, SIZE0};

    // From the last turns of all loops inside a loop to its own next turn.
    localparam int unsigned BACK4 = (SIZE4 - 1) * STRIDE4;
    localparam int unsigned BACK3 = BACK4 + (SIZE3 - 1) * STRIDE3;
    localparam int unsigned BACK2 = BACK3 + (SIZE2 - 1) * STRIDE2;
    localparam int unsigned BACK1 = BACK2 + (SIZE1 - 1) * STRIDE1;
    localparam logic [LOOPS-1:0][31:0] STEP = {
        STRIDE4, STRIDE3 - BACK4, STRIDE2 - BACK3, STRIDE1 - BACK2, STRIDE0 - BACK1
    };

    if (WORDS == 1) begin : wires
        assign out_data  = in_data;
        assign out_valid = in_valid;
        assign in_ready  = out_ready;

        logic unused;
        assign unused = &{1'b0, clk, rst};
    end else begin : pages
        localparam int unsigned AT_BITS = $clog2(2 * WORDS);
        typedef logic [AT_BITS-1:0] at_t;
        localparam at_t LAST = at_t'(2 * WORDS - 1);

        logic full, whole;  // both pages are to be read; one of them is, at least
        at_t write_at, read_at;
        logic second;  // the second page is read
        logic write_last;  // the next write ends a page
        logic write, read, write_ends, read_ends;

        assign in_ready   = !full;
        assign write      = in_valid && in_ready;
        assign write_ends = write && write_last;

        logic [BITS-1:0] fetched;
        logic move;  // a beat goes to the output

        assign move = !out_valid || out_ready;

        logic [LOOPS-1:0] turned;  // these loops are in their last turn: each in a register, which addresses follow from

        for (genvar i = 0; i < LOOPS; i++) begin : loops
            if (SIZE[i] == 1) begin : once
                assign turned[i] = 1'b1;
            end else begin : counted
                localparam int unsigned TURN_BITS = $clog2(SIZE[i]);
                localparam logic [LOOPS-1:0] INSIDE = LOOPS'(~((64'd2 << i) - 1));  // the loops inside this one
                logic [TURN_BITS-1:0] turn;

                always_ff @(posedge clk) begin
                    if (rst) {turned[i], turn} <= '0;
                    else if (read && (turned | ~INSIDE) == '1) begin
                        turn      <= turned[i] ? '0 : turn + 1'b1;
                        turned[i] <= !turned[i] && turn == TURN_BITS'(SIZE[i] - 2);
                    end
                end
            end
        end

        assign read_ends = read && (turned == '1);

        // The last beat of a page is read last, whatever the order, so the next page begins at the next address.
        at_t step;
        always_comb begin
            step = at_t'(1);
            for (int i = 0; i < LOOPS; i++) if (!turned[i]) step = at_t'(STEP[i]);
        end

        always_ff @(posedge clk) begin
            if (rst) begin
                full       <= '0;
                whole      <= '0;
                write_at   <= '0;
                write_last <= '0;
                read_at    <= '0;
                second     <= '0;
            end else begin
                if (write) begin
                    write_at   <= write_at == LAST ? '0 : write_at + 1'b1;
                    write_last <= write_at == at_t'(WORDS - 2) || write_at == at_t'(2 * WORDS - 2);
                end
                if (read) read_at <= read_ends && second ? '0 : read_at + step;
                if (read_ends) second <= !second;
                if (write_ends && !read_ends) begin
                    whole <= 1'b1;
                    full  <= whole;
                end
                if (read_ends && !write_ends) begin
                    whole <= full;
                    full  <= 1'b0;
                end
            end
        end

        localparam int unsigned BANKS = BLOCK ? (2 * WORDS + BANK - 1) / BANK : 1;

        logic there;  // a word is fetched

        if (BLOCK) begin : behind
            assign read = whole && (!there || move);

            always_ff @(posedge clk) begin
                if (rst)                 there <= 1'b0;
                else if (!there || move) there <= read;
            end
        end else begin : at_once
            assign read     = whole && move;
            assign there    = read;
            assign out_data = fetched;
        end

        if (BANKS > 1) begin : banks
            localparam int unsigned BANK_BITS = $clog2(BANK);
            typedef logic [AT_BITS-BANK_BITS-1:0] bank_t;

            logic [BANKS-1:0][BITS-1:0] kept;
            bank_t fetched_from, kept_from;
            logic kept_there;

            for (genvar i = 0; i < BANKS; i++) begin : bank
                localparam int unsigned HOLDS = i + 1 < BANKS ? BANK : 2 * WORDS - i * BANK;
                localparam int unsigned HOLDS_BITS = $clog2(HOLDS);
                logic [BITS-1:0] word;

                page_memory #(
                    .WORDS(HOLDS),
                    .BITS(BITS),
                    .BLOCK(1)
                ) memory (
                    .clk,
                    .write(write && write_at[AT_BITS-1:BANK_BITS] == bank_t'(i)),
                    .write_at(write_at[HOLDS_BITS-1:0]),
                    .write_data(in_data),
                    .read,
                    .read_at(read_at[HOLDS_BITS-1:0]),
                    .read_data(word)
                );

                always_ff @(posedge clk) if (move) kept[i] <= word;
            end

            assign fetched = kept[kept_from];

            always_ff @(posedge clk) begin
                if (read) fetched_from <= read_at[AT_BITS-1:BANK_BITS];
                if (move) begin
                    kept_from <= fetched_from;
                    out_data  <= fetched;
                end
                if (rst) {kept_there, out_valid} <= '0;
                else if (move) {kept_there, out_valid} <= {there, kept_there};
            end
        end else begin : one
            page_memory #(
                .WORDS(2 * WORDS),
                .BITS(BITS),
                .BLOCK(BLOCK)
            ) memory (
                .clk,
                .write,
                .write_at,
                .write_data(in_data),
                .read,
                .read_at,
                .read_data(fetched)
            );

            always_ff @(posedge clk) begin
                if (rst)       out_valid <= 1'b0;
                else if (move) out_valid <= there;
            end

            if (BLOCK) begin : late
                always_ff @(posedge clk) if (move) out_data <= fetched;
            end
        end
    end

endmodule
