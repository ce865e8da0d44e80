"""Engines around what teams have: a plain function, or a framework's agent. One file each."""
