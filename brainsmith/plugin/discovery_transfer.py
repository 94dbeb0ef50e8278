"""Copy the discovery of this environment to a shared cache, or from it."""

from __future__ import annotations

from brainsmith import TYPE_CHECKING
from brainsmith.plugin.discovery_cache import DiscoveryCache
from brainsmith.plugin.distributions import environment
from brainsmith.plugin.precedence import ADAPTED
from brainsmith.plugin.request import Request
from brainsmith.plugin.shared_discovery import BY_ITSELF, KIND, SharedDiscovery, may_share
from brainsmith.store.shared.shared_cache import HERE, THERE

if TYPE_CHECKING:
    from brainsmith.plugin.snapshot import Snapshot
    from brainsmith.settings import Settings
    from brainsmith.store.shared.shared_cache import SharedCache


def push_discovery(snapshot: Snapshot, settings: Settings, cache: SharedCache) -> str:
    """Write what a full discovery found; return why not, empty if it was written."""
    if not may_share(settings):
        return BY_ITSELF
    shared = SharedDiscovery(Request("full").key, settings, snapshot.environment, cache)
    if shared.find() is not None:
        return THERE
    if shared.offer(snapshot):
        return ""
    return "it has problems, or plugins that lie where machines have nothing in common"


def pull_discovery(settings: Settings, cache: SharedCache) -> tuple[bool, str]:
    """Keep what another machine found; return whether there is any, and why it was not copied, empty if it was."""
    if not may_share(settings):
        return True, BY_ITSELF
    local, asked = DiscoveryCache(), Request("full").key
    shared = SharedDiscovery(asked, settings, environment(ADAPTED), cache)
    if cache.get(KIND, shared.key) is None:
        return False, ""
    if local.get(asked, settings).snapshot is not None:
        return True, HERE
    snapshot = shared.find()
    if snapshot is None:
        return True, "files here are not those that it is of"
    return True, "" if local.put(asked, settings, snapshot) else "it cannot be written here"
