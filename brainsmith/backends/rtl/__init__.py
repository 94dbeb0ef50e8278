"""The project's RTL backends: one per file, the file named after it in snake_case, its core beside it.

A backend of FINN's kernel makes nodes of FINN's domain, `finn.custom_op.fpgadataflow.rtl`; one of this project's own
kernels makes nodes of this package's, `brainsmith.backends.rtl`.
"""

from __future__ import annotations

from brainsmith.plugin.operators import lazy_operators

__getattr__ = lazy_operators(__name__)
