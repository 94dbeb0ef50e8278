"""A target of this machine for programs elsewhere: its server over HTTP, and what clients of it need."""
