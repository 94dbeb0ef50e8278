"""Options that no best choice needs: another one is as fast and takes no more, whatever its neighbours are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from brainsmith.rtl.fitting.options import Counts, Network, WidthLink


def without_dominated(network: Network, *, alike: bool = False) -> Network:
    """Return a network without options in whose place another one is at least as good in every choice.

    Args:
        network: Of which each layer has an option.
        alike: Whether the other one must move beats alike, in place of being as fast.
    """
    while True:
        which = [_kept(network, place, alike) for place in range(len(network.layers))]
        if all(few.all() for few in which):
            return network
        network = network.kept(
            which
        )  # the fewer widths are left, the more options are worse with all of them


def _kept(network: Network, place: int, alike: bool) -> NDArray[np.bool_]:
    """Tell which options of a layer are dominated by none, (options,)."""
    layer = network.layers[place]
    worth = np.ones(len(layer.cycles), bool)
    aside = [_most_more(link, network, place) for link in network.links if place in (link.first, link.second)]
    # Of options that dominate each other the first one stays.
    order = np.lexsort((layer.cycles, layer.needs.sum(axis=1)))
    for at in order:
        if not worth[at]:
            continue
        more = layer.needs[at] - layer.needs
        for widths, between in aside:
            more = more + between[widths[at]][widths]
        beaten = (more <= 0).all(axis=1)
        beaten &= layer.timings[at] == layer.timings if alike else layer.cycles[at] <= layer.cycles
        beaten[at] = False
        worth &= ~beaten
    return worth


def _most_more(link: WidthLink, network: Network, place: int) -> tuple[Counts, Counts]:
    """Return the widths of a layer's options at a link, and how much more one can take there than another.

    Returns:
        The widths, (options,), and (widths, widths, resources): the most, over what is at the other end.
    """
    if place == link.first:
        others = np.unique(link.taken)
        own, needs = link.given, link.needs[:, others]
    else:
        others = np.unique(link.given)
        own, needs = link.taken, link.needs[others].swapaxes(0, 1)
    most = np.zeros((len(needs), len(needs), needs.shape[2]), np.int64)
    for width in np.unique(own):
        most[width] = (needs[width] - needs).max(axis=1)
    return own, most
