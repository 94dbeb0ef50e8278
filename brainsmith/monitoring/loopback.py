"""Which requests over HTTP are of this machine."""

from __future__ import annotations

import ipaddress
import re


def is_loopback_name(host: str) -> bool:
    """Return whether the `Host` of a request is this machine; a web page's name is not, even if it resolves to it."""
    name = re.sub(r":\d*$", "", host.strip()).strip("[]").lower()
    try:
        return name == "localhost" or ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
