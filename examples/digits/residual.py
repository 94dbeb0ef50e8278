"""A residual block (He et al., arXiv:1512.03385): what goes in is added to what its layers make of it."""

from __future__ import annotations

from quantised_network import Activation, Array, Layer, Parameter, check_exact


class Residual:
    """Layers, and a shortcut around them; both ends have the same shape.

    The last layer is an activation. The sum is one of integers, because the exported graph gives that
    activation the scale of what goes in.
    """

    def __init__(self, name: str, layers: list[Layer]) -> None:
        if not isinstance(layers[-1], Activation):
            raise TypeError(f"the last layer of block {name!r} must be an Activation, not {layers[-1]!r}")
        self.name = name
        self.layers = layers

    def forward(self, x: Array) -> Array:
        """Add the input to the result of the layers."""
        branch = x
        for layer in self.layers:
            branch = layer.forward(branch)
        return check_exact(branch + x, self.name)

    def backward(self, gradient: Array) -> Array:
        """Add the gradients of both ways."""
        branch = gradient
        for layer in reversed(self.layers):
            branch = layer.backward(branch)
        return check_exact(branch + gradient, self.name)

    def parameters(self) -> list[Parameter]:
        """List those of the layers."""
        return [parameter for layer in self.layers for parameter in layer.parameters()]
