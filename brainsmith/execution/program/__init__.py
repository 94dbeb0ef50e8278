"""A model as a list of instructions over arrays: plain data, run with NumPy alone.

    instruction.py   one instruction
    table.py         the functions that instructions name
    functions/       those functions, by subject
    program.py       a list of them, with its constants, and running it
    encoding.py      a program as bytes

Each tensor that the samples change is a *stack*: (runs, *shape that the graph states), all runs of a chunk at once.
Constants have no such axis.
"""
