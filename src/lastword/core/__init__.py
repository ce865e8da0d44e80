"""The rules of interruption, with no I/O in them.

Nothing here awaits, reads a clock, makes an id or opens a file. The runtime tells a
machine what happened and carries out the orders that come back.
"""
