"""Transforms with one fault each, as they are written by mistake."""

from onnx import helper
from qonnx.transformation.base import Transformation

from brainsmith.plugin.adapters.graph_edits import bypass_node


class CollapseAll(Transformation):
    """Removes two Neg in a row, and forgets that others may read the tensor between them."""

    def apply(self, model):
        negations = [node for node in model.graph.node if node.op_type == "Neg"]
        for second in negations:
            first = next((node for node in negations if node.output[0] == second.input[0]), None)
            if first is None:
                continue
            second.op_type, second.input[0] = "Identity", first.input[0]
            for reader in model.graph.node:
                reader.input[:] = [
                    first.input[0] if name == first.output[0] else name for name in reader.input
                ]
            model.graph.node.remove(first)
            return model, True
        return model, False


class RenameOutput(Transformation):
    """Removes Identity, also where it gives an output of the graph, and lets that have another name."""

    def apply(self, model):
        for node in [node for node in model.graph.node if node.op_type == "Identity"]:
            for value in model.graph.output:
                value.name = node.input[0] if value.name == node.output[0] else value.name
            bypass_node(model.graph, node)
            if node in model.graph.node:
                model.graph.node.remove(node)
        return model, False


class GrowEachTime(Transformation):
    """Puts an Identity behind each Relu, each time it is applied."""

    def apply(self, model):
        for node in [node for node in model.graph.node if node.op_type == "Relu"]:
            name = f"{node.output[0]}_{len(model.graph.node)}"
            identity = helper.make_node("Identity", [name], [node.output[0]])
            node.output[0] = name
            model.graph.node.append(identity)
        return model, False


class DropBias(Transformation):
    """Removes each Add of a constant."""

    def apply(self, model):
        for node in [node for node in model.graph.node if node.op_type == "Add"]:
            if model.get_initializer(node.input[1]) is not None:
                bypass_node(model.graph, node)
        return model, False


class OneReader(Transformation):
    """Writes into a constant that another node reads, too: right where each constant has one reader."""

    def apply(self, model):
        for node in model.graph.node:
            if node.op_type == "Sub" and model.get_initializer(node.input[1]) is not None:
                model.set_initializer(node.input[1], -model.get_initializer(node.input[1]))
                node.op_type = "Add"
        return model, False


class WrongType(Transformation):
    """Makes each Neg a product with a constant of another type, which cannot be executed."""

    def apply(self, model):
        import numpy as np

        for at, node in enumerate(model.graph.node):
            if node.op_type == "Neg":
                model.set_initializer(f"minus_{at}", np.float64(-1))
                node.op_type = "Mul"
                node.input.append(f"minus_{at}")
        return model, False


class NothingAtAll(Transformation):
    """Looks for Relu, and changes nothing."""

    def apply(self, model):
        for node in model.graph.node:
            if node.op_type == "Relu" and len(node.input) == 2:
                node.op_type = "Max"
        return model, False


class NamesNothing(Transformation):
    """Names no operator."""

    def apply(self, model):
        return model, False


class Falls(Transformation):
    """Fails at each Sqrt."""

    def apply(self, model):
        for node in model.graph.node:
            if node.op_type == "Sqrt":
                raise KeyError(node.output[0])
        return model, False


class NeedsNames(Transformation):
    """Removes the second of two operators in a row where the first has one reader: right of Relu and Relu."""

    def __init__(self, first, second):
        super().__init__()
        self.first, self.second = first, second

    def apply(self, model):
        for node in list(model.graph.node):
            before = model.find_producer(node.input[0])
            if node.op_type == self.second and before is not None and before.op_type == self.first:
                node.op_type = "Identity"
                bypass_node(model.graph, node)
        for node in list(model.graph.node):
            if node.op_type == "Identity":
                node.op_type = self.second
        return model, False


class NeverDone(Transformation):
    """Says each time that it changed the model."""

    def apply(self, model):
        return model, True
