"""The classes of installed packages that can be plugins."""

from __future__ import annotations

from brainsmith import TYPE_CHECKING
from brainsmith.plugin.adapters.operator_domains import Operators
from brainsmith.plugin.closure import ClassNode, ClassTable

if TYPE_CHECKING:
    from brainsmith.plugin.adapters.adapter import Package

TRANSFORM_ROOT = "qonnx.transformation.base.Transformation"
OPERATOR_ROOT = "qonnx.custom_op.base.CustomOp"


class Classes:
    """The classes of some packages that can be plugins.

    Attributes:
        transforms: All that descend from the base of transformations.
        operators: All that descend from the base of operators.
        parents: The identities of those that others descend from.
        domains: What is entered where.
    """

    def __init__(self, packages: list[Package]) -> None:
        table = ClassTable()
        sources = [source for package in packages for source in package.sources]
        for source in sources:
            table.add(source)
        self.transforms = table.descendants([TRANSFORM_ROOT])
        self.operators = table.descendants([OPERATOR_ROOT])
        bases = (base for node in self.operators for base in node.bases)
        self.parents = {id(base) for base in bases if isinstance(base, ClassNode)}
        self.domains = Operators(table, sources)
