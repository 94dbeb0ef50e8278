"""BrainSmith: a plugin hub for FPGA compilers of quantised neural networks.

Nothing is imported here: the hub starts in a few milliseconds, and a process pays only for what it uses.
"""

__version__ = "0.1.0"
