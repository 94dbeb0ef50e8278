// SPDX-License-Identifier: MIT
// Serves wide beats in narrow ones: gives a beat per cycle.
//
// A beat is taken as it is, behind what is left of the one before, and moves down by an output beat at a time. So an
// output beat is a window at the bottom, at a place that stays the same until the next beat is taken.
module width_converter_narrower #(
    int unsigned UNIT = 1,   // bits
    int unsigned TAKEN = 3,  // units of an input beat
    int unsigned GIVEN = 2   // units of an output beat, fewer than TAKEN
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

    localparam int unsigned REST = GIVEN - 1;        // units that may be left when a beat is taken, below it
    localparam int unsigned WHOLE = TAKEN / GIVEN;   // output beats that an input beat fills in any case
    localparam int unsigned BEATS_BITS = $clog2(WHOLE + 2);
    localparam int unsigned BITS = (REST + TAKEN) * UNIT;

    typedef logic [BEATS_BITS-1:0] beats_t;

    logic [BITS-1:0]       held, loaded;
    logic [GIVEN*UNIT-1:0] given, kept;
    logic                  keeps, moves, takes;
    beats_t                beats, filled;  // output beats that are held, and will be when an input beat is taken

    assign in_ready = beats == '0 || (beats == 1 && !keeps);
    assign takes    = in_valid && in_ready;
    assign moves    = beats != '0 && !keeps;

    assign out_valid = keeps || beats != '0;
    assign out_data  = keeps ? kept : given;

    always_ff @(posedge clk) begin
        if (!keeps) kept <= given;
        if (takes || moves) held <= takes ? loaded : held >> (GIVEN * UNIT);

        if (rst) begin
            keeps <= 1'b0;
            beats <= '0;
        end else begin
            keeps <= out_valid && !out_ready;
            if (takes)      beats <= filled;
            else if (moves) beats <= beats - 1'b1;
        end
    end

    if (GIVEN == 1) begin : gen_aligned
        assign loaded = in_data;
        assign filled = beats_t'(TAKEN);
        assign given  = held[UNIT-1:0];
    end else begin : gen_rest
        localparam int unsigned OVER = TAKEN % GIVEN;  // units beyond whole output beats
        localparam int unsigned PLACE_BITS = $clog2(GIVEN);
        localparam int unsigned PLACES = 1 << PLACE_BITS;

        typedef logic [PLACE_BITS-1:0] place_t;

        logic [PLACES-1:0][GIVEN*UNIT-1:0] windows;
        logic [3:0][REST*UNIT-1:0]         rests;
        logic [1:0]                        ended;
        place_t                            place, next;  // of the first unit that is not yet given
        logic                              high;

        assign given = windows[place];
        for (genvar at = 0; at < PLACES; at++) begin : gen_window
            assign windows[at] = held[(at < GIVEN ? at : GIVEN - 1)*UNIT +: GIVEN*UNIT];
        end

        // When a beat is taken, what is held ends at OVER - 1 units, or one or two output beats above.
        for (genvar at = 0; at < REST; at++) begin : gen_rest_unit
            localparam int unsigned FROM = at + OVER >= GIVEN ? at + OVER - GIVEN : at + OVER;  // any, where none is left
            assign rests[0][at*UNIT +: UNIT] = held[FROM*UNIT +: UNIT];
        end
        assign rests[1] = held[OVER*UNIT +: REST*UNIT];
        assign rests[2] = held[(OVER+GIVEN)*UNIT +: REST*UNIT];
        assign rests[3] = rests[2];

        assign high   = place >= place_t'(OVER);
        assign ended  = {1'b0, high} + {1'b0, beats != '0};
        assign loaded = {in_data, rests[ended]};
        assign next   = high ? place - place_t'(OVER) : place + place_t'(GIVEN - OVER);
        assign filled = next < place_t'(OVER) ? beats_t'(WHOLE + 1) : beats_t'(WHOLE);

        always_ff @(posedge clk) begin
            if (rst)        place <= place_t'(OVER - 1);
            else if (takes) place <= next;
        end
    end

endmodule
