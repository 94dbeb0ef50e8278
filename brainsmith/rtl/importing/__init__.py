"""From a SystemVerilog module that someone wrote to a kernel, a backend and a test of this project's form."""
