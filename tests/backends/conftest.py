"""FINN is prepared before a test module imports a kernel's file."""

from brainsmith.plugin.adapters.finn_runtime import prepare_finn

prepare_finn()
