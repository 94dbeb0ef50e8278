"""A model as a list of instructions over arrays: plain data, run with NumPy alone; and how a model becomes one.

    instruction.py        one instruction
    instruction_table.py  the functions that instructions name
    functions/            those functions, by subject
    array_program.py      a list of them, with its constants, and running it
    encoding.py           a program as bytes

    lower.py              a model, node by node, with its constants folded and its datatype annotations checked
    program_node.py       what a lowering sees of a node (graph/node_view.py), and how it emits instructions
    partitions.py         the nodes that hold a model of their own
    exact_products.py     in which type a product of integers is exact
    staircase.py          how thresholds are counted fastest

Each tensor that the samples change is a *stack*: (runs, *shape that the graph states), all runs of a chunk at once.
Constants have no such axis.

A lowering is the method `to_program` of what is read of a node (`execution/operators/`)::

    from brainsmith.execution.operators.readers import reads
    from brainsmith.execution.program.functions import arithmetic

    class Half:
        def to_program(self, node: ProgramNode) -> None:
            half = node.hold(np.float32([0.5]))
            node.emit(arithmetic.apply, [node.inputs[0], half], node.outputs, name="Mul")

    @reads("my_project.kernels", "Half")
    def half(node: NodeView) -> Half:
        return Half()

- `node.emit(function, inputs, outputs, **parameters)` appends an instruction; `function` is one that `@instruction` has
  entered in the table (instruction_table.py). Without `outputs` it makes a temporary, and returns its name.
- Tensors that vary are stacks (runs, *node.shape(name)); constants (`node.constant(i)` is an array) have their own shape.
  `node.stack(i, rank)` gives the name of an input whose shape is led by ones up to a rank, for broadcasting.
- `node.hold(array)` makes a constant and returns its name.
- `node.span(name)` is (low, high) if the tensor is proved to hold whole numbers within them, else None. It comes from
  constants, from checked annotations, and from what lowerings prove with `node.prove(name, low, high)`: only ever
  prove what holds for all inputs. An annotation that a span proves is not checked at run time; all others are.
- `node.rounds_differently()` before emitting what may differ from the reference in its last bits even so (a sum of
  floats, exp): in a *faithful* program, which build verification runs, the node is then left to ONNX Runtime.
- `raise Unsupported("why")` leaves the node to the `foreign` instruction: its own Python model or ONNX Runtime.
  A node whose inputs are all constants is computed once in that way, and no lowering sees it.
- A result equals that of the reference wherever its arithmetic is exact (a zero may have the other sign): products of
  integers go through `exact_products.emit_product`, which chooses float32, float64 or int64 by spans.
"""
