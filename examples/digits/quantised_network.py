"""Layers one after the other, the ways around them, and the graph that is exported."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from digits_data import Array, Labels
from quantised_layers import Activation, Latent, Layer

from brainsmith.ops import Tensor, execute_custom_op, export_onnx, functional, no_grad


class MaxPool(Layer):
    """The greatest value of each 2x2 window; training changes the first of equal ones."""

    def forward(self, x: Tensor) -> Tensor:
        """Keep it."""
        return self.named(self.name, functional.max_pool2d(x, 2))


class Mean(Layer):
    """The mean of each channel over all pixels: the sum, at a finer scale.

    Raises:
        ValueError: The number of pixels is no power of two, so that the mean would be rounded.
    """

    def __init__(self, name: str, pixels: int) -> None:
        super().__init__(name)
        if pixels & (pixels - 1):
            raise ValueError(f"{name}: the mean of {pixels} pixels is not exact in floating point")
        self.pixels = pixels

    def connect(self, scale: float, following: Layer | None) -> float:
        """Divide the scale."""
        return scale / self.pixels

    def forward(self, x: Tensor) -> Tensor:
        """Take the mean."""
        return self.named(self.name, functional.global_average_pool(x))


class Block(Layer):
    """Layers, one after the other."""

    def __init__(self, name: str, layers: list[Layer]) -> None:
        super().__init__(name)
        self.layers = layers

    def connect(self, scale: float, following: Layer | None) -> float:
        """Connect the layers."""
        for layer, behind in zip(self.layers, [*self.layers[1:], following], strict=True):
            scale = layer.connect(scale, behind)
        return scale

    def forward(self, x: Tensor) -> Tensor:
        """Go through the layers."""
        for layer in self.layers:
            x = layer(x)
        return x

    def latents(self) -> list[Latent]:
        """List what is trained, first layer first."""
        return [latent for layer in self.layers for latent in layer.latents()]

    def freeze(self) -> None:
        """Freeze the layers."""
        for layer in self.layers:
            layer.freeze()

    def names(self) -> dict[str, Tensor]:
        """Return parameters and results by the names that an exported graph has for them."""
        named = dict(self.results)
        for layer in self.layers:
            named |= layer.names() if isinstance(layer, Block) else layer.results
        return named


class Residual(Block):
    """Layers, and a shortcut around them (He et al., arXiv:1512.03385).

    The last one is an activation, and gets the scale of what goes in: so the sum is one of integers.
    """

    def __init__(self, name: str, layers: list[Layer]) -> None:
        super().__init__(name, layers)
        if not isinstance(layers[-1], Activation):
            raise TypeError(f"the last layer of block {name!r} must be an Activation, not {layers[-1]!r}")
        self.last = layers[-1]

    def connect(self, scale: float, following: Layer | None) -> float:
        """Give both ways the same scale."""
        self.last.scale = scale
        return super().connect(scale, None)

    def forward(self, x: Tensor) -> Tensor:
        """Add what comes in to what the layers make of it."""
        return self.named(f"{self.name}_add", super().forward(x) + x)


class Network(Block):
    """A classifier of digits: images (N, 8, 8, 1) of integers 0 to 16 become integer logits (N, 10).

    Args:
        shape: What the graph takes, batch 1: (1, 64), or NCHW (1, 1, 8, 8).
        labels: Whether the graph chooses the class itself, and ends in an arg-max.
    """

    input_bits = 4

    def __init__(self, name: str, shape: tuple[int, ...], layers: list[Layer], labels: bool = True) -> None:
        super().__init__(name, layers)
        self.shape, self.labels = shape, labels
        self.centre = Tensor(np.float32(-8.0))
        self.connect(1.0, None)

    def forward(self, x: Tensor) -> Tensor:
        """Centre the pixels and clip them to INT4, then go through the layers."""
        x = self.named("centre", x + self.centre)
        x = self.named("image_quant", execute_custom_op("int_quant", [x, 1.0, 0.0, self.input_bits]))
        return super().forward(x)

    def logits(self, images: Array) -> Tensor:
        """Compute the logits of images (N, 8, 8, 1)."""
        logits: Tensor = self(Tensor(images.reshape(-1, *self.shape[1:])))
        return logits

    def predict(self, images: Array) -> Labels:
        """Return the class of each image: the first of the greatest logits."""
        with no_grad():
            return np.asarray(self.logits(images).numpy().argmax(axis=1))

    def export(self, path: Path) -> None:
        """Round the parameters permanently, compute one image, and write what was recorded as a QONNX file.

        The input is `image`, integers 0 to 16 in float32, annotated UINT5; the output is `logits`, (1, 10), or `label`,
        (1, 1). The same network gives the same bytes.
        """
        self.freeze()
        image = Tensor(np.zeros(self.shape, np.float32))
        outputs = {"logits": self(image)}
        names = {"image_centre": self.centre, **self.names()}
        if self.labels:
            names["arg_max"], label = functional.top_k(outputs["logits"])
            outputs = {"label": label}
        stated = {"image": "UINT5"}
        export_onnx(
            outputs, {"image": image}, path, name=f"digits_{self.name}", names=names, datatypes=stated
        )
