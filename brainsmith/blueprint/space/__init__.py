"""Design spaces: blueprints in which values are left open, by ``choice``, ``range`` and ``optional``.

A space is a tree of YAML nodes, as `composition` makes it. A point chooses one alternative of each dimension, which
gives a tree without choices: a blueprint like any other.
"""
