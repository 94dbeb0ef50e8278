"""What a design needs of an FPGA: real synthesis with Yosys, and place and route on an ECP5."""
