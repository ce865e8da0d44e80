"""What runs inside of the target: Python's own and nothing more, so that it starts anywhere."""
