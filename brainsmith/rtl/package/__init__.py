"""A finished accelerator as one folder: written whole, read again, simulated from its own files."""
