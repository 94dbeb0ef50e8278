"""The devices that designs are made for: which there are, and what each holds."""
