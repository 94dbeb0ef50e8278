// SPDX-License-Identifier: MIT
// Gathers narrow beats into wide ones: takes a beat per cycle.
//
// What is taken is shifted in at the top, so an output beat is a window whose place depends only on how many units
// came after it, which are fewer than an input beat has.
module width_converter_wider #(
    int unsigned UNIT = 1,   // bits
    int unsigned TAKEN = 2,  // units of an input beat
    int unsigned GIVEN = 3   // units of an output beat, more than TAKEN
) (
    input  logic clk,
    input  logic rst,

    input  logic [TAKEN*UNIT-1:0] in_data,
    input  logic                  in_valid,
    output logic                  in_ready,

    output logic [GIVEN*UNIT-1:0] out_data,
    output logic                  out_valid,
    input  logic                  out_ready
);

    localparam int unsigned HELD = GIVEN + TAKEN - 1;  // units
    localparam int unsigned PLACE_BITS = TAKEN > 1 ? $clog2(TAKEN) : 1;
    localparam int unsigned PLACES = 1 << PLACE_BITS;
    localparam int unsigned SPARE_BITS = $clog2(GIVEN) + 1;

    typedef logic [SPARE_BITS-1:0] spare_t;

    logic [TAKEN*UNIT-1:0] kept, taken;
    logic                  keeps, shifts, gives;
    logic [HELD*UNIT-1:0]  held;
    spare_t                spare;  // units that are held beyond an output beat; negative while there is none

    assign in_ready = !keeps;
    assign taken    = keeps ? kept : in_data;
    assign gives    = out_valid && out_ready;
    assign shifts   = (keeps || in_valid) && (!out_valid || out_ready);

    assign out_valid = !spare[SPARE_BITS-1];

    if (TAKEN > 1) begin : gen_windows
        logic [PLACES-1:0][GIVEN*UNIT-1:0] windows;

        for (genvar place = 0; place < PLACES; place++) begin : gen_window
            localparam int unsigned BEYOND = place < TAKEN ? place : TAKEN - 1;
            assign windows[place] = held[(TAKEN-1-BEYOND)*UNIT +: GIVEN*UNIT];
        end

        assign out_data = windows[spare[PLACE_BITS-1:0]];
    end else begin : gen_window
        assign out_data = held;
    end

    always_ff @(posedge clk) begin
        if (!keeps) kept <= in_data;
        if (shifts) held <= (HELD * UNIT)'({taken, held} >> (TAKEN * UNIT));

        if (rst) begin
            keeps <= 1'b0;
            spare <= -spare_t'(GIVEN);
        end else begin
            keeps <= (keeps || in_valid) && !shifts;
            spare <= spare + (shifts ? (gives ? spare_t'(TAKEN) - spare_t'(GIVEN) : spare_t'(TAKEN))
                                     : (gives ? -spare_t'(GIVEN) : '0));
        end
    end

endmodule
