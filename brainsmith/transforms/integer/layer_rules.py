"""LayerRules: what all that find the layers of some operators have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith.transforms.integer.broadcasts import Broadcasts
from brainsmith.transforms.integer.image_layers import ImageLayers
from brainsmith.transforms.integer.product_layers import ProductLayers

if TYPE_CHECKING:
    from brainsmith.transforms.graph_view import GraphView
    from brainsmith.transforms.integer.layer_builder import LayerBuilder
    from brainsmith.transforms.integer.layouts import Layouts


class LayerRules:
    """Finds what some operators give.

    Args:
        view: The network.
        build: Where layers are added.
        layouts: Moves tensors.
    """

    def __init__(self, view: GraphView, build: LayerBuilder, layouts: Layouts) -> None:
        self._view = view
        self._build = build
        self._layouts = layouts
        self._images = ImageLayers(build)
        self._products = ProductLayers(build)
        self._broadcasts = Broadcasts(build, layouts)
