"""What runs in a worker's process.

Found by path there, and started without lastword: it needs the standard library and the
interpreter, nothing else.
"""
