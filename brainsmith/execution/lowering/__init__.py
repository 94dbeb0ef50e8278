"""Make a program of a model: each node by what its operator's value emits.

    lower.py        a model, node by node, with its constants folded and its datatype annotations checked
    program_node.py what a lowering sees of a node (graph/node_view.py), and how it emits instructions
    products.py     in which type a product of integers is exact
    staircase.py    how thresholds are counted fastest
    hardware.py     what lowerings of hardware layers share

A lowering is the method `to_program` of what is read of a node (`execution/operators/`)::

    from brainsmith.execution.operators.registry import reads
    from brainsmith.execution.program.functions import arithmetic

    class Half:
        def to_program(self, node: ProgramNode) -> None:
            node.emit(arithmetic.multiply, [node.inputs[0], node.hold(np.float32([0.5]))], node.outputs)

    @reads("my_project.kernels", "Half")
    def half(node: NodeView) -> Half:
        return Half()

- `node.emit(function, inputs, outputs, **parameters)` appends an instruction; `function` is one that `@instruction` has
  entered in the table (program/table.py). Without `outputs` it makes a temporary, and returns its name.
- Tensors that vary are stacks (runs, *node.shape(name)); constants (`node.constant(i)` is an array) have their own shape.
  `node.stack(i, rank)` gives the name of an input whose shape is led by ones up to a rank, for broadcasting.
- `node.hold(array)` makes a constant and returns its name.
- `node.span(name)` is (low, high) if the tensor is proved to hold whole numbers within them, else None. It comes from
  constants, from checked annotations, and from what lowerings prove with `node.prove(name, low, high)`: only ever
  prove what holds for all inputs. An annotation that a span proves is not checked at run time; all others are.
- `node.rounds_differently()` before emitting what may differ from the reference in its last bits even so (a sum of
  floats, exp): in a *faithful* program, which build verification runs, the node is then left to ONNX Runtime.
- `raise Unsupported("why")` leaves the node to the `foreign` instruction: its own Python model or ONNX Runtime, as
  before. A node whose inputs are all constants is computed once in that way, and no lowering sees it.
- A result equals that of the reference wherever its arithmetic is exact (a zero may have the other sign): products of
  integers go through `products.emit_product`, which chooses float32, float64 or int64 by spans.
"""
