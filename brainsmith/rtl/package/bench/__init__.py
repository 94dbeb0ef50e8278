"""A test bench for cocotb: these files are copied into a package and run there, without BrainSmith."""
