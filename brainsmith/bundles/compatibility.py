"""Check that the versions of a bundle, of this host and of other bundles are compatible."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith.errors import BundleDependencyError, BundleVersionError
from brainsmith.plugin.requirements import wrong_host

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from brainsmith.bundles.bundle import BundleInfo


def check_host(info: BundleInfo) -> None:
    """Check that this host is one that a bundle works with: neither too old nor too new.

    Raises:
        BundleVersionError: It is not; both versions are named.
    """
    reason = wrong_host(info.min_brainsmith_version, info.max_brainsmith_version, "the bundle")
    if reason:
        raise BundleVersionError(f"bundle '{info}' {reason}")


def check_needs(info: BundleInfo, present: Mapping[str, BundleInfo]) -> None:
    """Check that the bundles that a bundle needs are there, in versions that fit.

    Args:
        info: Of the bundle that needs them.
        present: The bundles that are registered, by name.

    Raises:
        BundleDependencyError: One is missing.
        BundleVersionError: One is there in another version.
    """
    for name, versions in info.depends_on:
        found = present.get(name)
        wanted = f"{name} {versions}".rstrip()
        if found is None:
            raise BundleDependencyError(
                f"bundle '{info}' needs the bundle '{wanted}', which is not registered: register it first"
            )
        if found.version not in versions:
            raise BundleVersionError(
                f"bundle '{info}' needs the bundle '{wanted}', and '{found}' is registered"
            )


def check_not_needed(name: str, present: Iterable[BundleInfo]) -> None:
    """Check that no bundle that is there needs another one that is to be removed.

    Raises:
        BundleDependencyError: Some do; they are named.
    """
    present = list(present)
    (info,) = [other for other in present if other.name == name]
    needing = [f"'{other}'" for other in present if name in dict(other.depends_on)]
    if needing:
        verb = "needs" if len(needing) == 1 else "need"
        raise BundleDependencyError(
            f"bundle '{info}' cannot be removed: {' and '.join(needing)} {verb} it; remove what needs it first"
        )


def check_still_serves(info: BundleInfo, present: Iterable[BundleInfo]) -> None:
    """Check that a version that is to take the place of another one fits all that need it.

    Raises:
        BundleVersionError: One needs another version.
    """
    for other in present:
        versions = dict(other.depends_on).get(info.name)
        if versions is not None and info.version not in versions:
            raise BundleVersionError(
                f"bundle '{info}' cannot take the place of the loaded one: '{other}' needs '{info.name} {versions}'"
            )
