(* techmap_celltype = "$bmux" *)
module from_bmux (A, S, Y);
parameter WIDTH = 1;
parameter S_WIDTH = 1;
localparam N = 1 << S_WIDTH;
input [(WIDTH << S_WIDTH) - 1:0] A;
input [S_WIDTH - 1:0] S;
output [WIDTH - 1:0] Y;
`ifdef REVERSED
wire [S_WIDTH - 1:0] tap = ~S;
`else
wire [S_WIDTH - 1:0] tap = S;
`endif
genvar i, j;
generate
    for (i = 0; i < WIDTH; i = i + 1) begin : bits
        wire [N - 1:0] line;
        for (j = 0; j < N; j = j + 1) begin : taps
`ifdef REVERSED
            assign line[j] = A[(N - 1 - j) * WIDTH + i];
`else
            assign line[j] = A[j * WIDTH + i];
`endif
        end
        \$shiftx #(.A_SIGNED(0), .B_SIGNED(0), .A_WIDTH(N), .B_WIDTH(S_WIDTH), .Y_WIDTH(1)) select (
            .A(line), .B(tap), .Y(Y[i])
        );
    end
endgenerate
endmodule
