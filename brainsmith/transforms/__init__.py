"""The project's own transforms: one per file, the file named after it in snake_case.

Use them with `from brainsmith.plugins import transforms as tfm`, then `tfm.ExpandNorms()`.
"""
