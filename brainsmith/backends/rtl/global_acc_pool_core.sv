// SPDX-License-Identifier: MIT
// Adds up each channel of a frame: PIXELS times all FOLDS beats of the channels come in, once all of them go out.
//
// The sums so far lie in a memory with one word for each fold of the channels. A beat waits one cycle for its word;
// with the last pixel the sums go straight to the output, so frames follow each other without a gap.
module global_acc_pool_core #(
    int unsigned SIGNED   = 0,  // 1: values are in two's complement
    int unsigned BIPOLAR  = 0,  // 1: values are single bits, 0 for -1
    int unsigned PE       = 1,  // channels of a beat
    int unsigned FOLDS    = 4,  // beats of a pixel
    int unsigned PIXELS   = 4,  // of a frame
    int unsigned IN_BITS  = 4,
    int unsigned OUT_BITS = 8,  // hold every sum
    bit          BLOCK    = 0   // the sums are in block RAM, else in LUTs
) (
    input  logic clk,
    input  logic rst,

    input  logic [PE-1:0][IN_BITS-1:0] in_data,
    input  logic                       in_valid,
    output logic                       in_ready,

    output logic [PE-1:0][OUT_BITS-1:0] out_data,
    output logic                        out_valid,
    input  logic                        out_ready
);

    localparam int unsigned FOLD_BITS  = FOLDS > 1 ? $clog2(FOLDS) : 1;
    localparam int unsigned PIXEL_BITS = PIXELS > 1 ? $clog2(PIXELS) : 1;
    typedef logic [OUT_BITS-1:0]   sum_t;
    typedef logic [FOLD_BITS-1:0]  fold_t;
    typedef logic [PIXEL_BITS-1:0] pixel_t;

    fold_t  fold;   // of the beat that is awaited
    pixel_t pixel;
    logic   advance, take;

    logic [PE-1:0][IN_BITS-1:0] held;  // the beat that is added
    logic  busy, first, last;          // whether there is one, and of which pixel
    sum_t [PE-1:0] so_far, sum;

    assign advance   = !out_valid || out_ready;
    assign in_ready  = advance;
    assign take      = in_valid && in_ready;
    assign out_valid = busy && last;
    assign out_data  = sum;

    always_ff @(posedge clk) begin
        if (take) begin
            held  <= in_data;
            first <= pixel == '0;
            last  <= pixel == pixel_t'(PIXELS - 1);
            fold  <= fold == fold_t'(FOLDS - 1) ? '0 : fold + 1'b1;
            if (fold == fold_t'(FOLDS - 1)) pixel <= pixel == pixel_t'(PIXELS - 1) ? '0 : pixel + 1'b1;
        end
        if (advance) busy <= in_valid;
        if (rst) begin
            fold  <= '0;
            pixel <= '0;
            busy  <= 1'b0;
        end
    end

    for (genvar lane = 0; lane < PE; lane++) begin : lanes
        sum_t value;
        if (BIPOLAR != 0) begin : widen_bipolar
            assign value = held[lane] == '0 ? '1 : sum_t'(1);
        end else if (SIGNED != 0) begin : widen_signed
            assign value = sum_t'(signed'(held[lane]));
        end else begin : widen_unsigned
            assign value = sum_t'(held[lane]);
        end
        assign sum[lane] = (first ? '0 : so_far[lane]) + value;
    end

    if (FOLDS == 1) begin : one_fold
        always_ff @(posedge clk) if (busy && advance) so_far <= sum;
    end else begin : folds
        fold_t held_fold;

        always_ff @(posedge clk) if (take) held_fold <= fold;

        page_memory #(
            .WORDS(FOLDS),
            .BITS (PE * OUT_BITS),
            .BLOCK(BLOCK)
        ) sums (
            .clk,
            .write     (busy && advance),
            .write_at  (held_fold),
            .write_data(sum),
            .read      (take),
            .read_at   (fold),
            .read_data (so_far)
        );
    end

endmodule
