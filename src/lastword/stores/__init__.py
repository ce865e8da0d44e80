"""What survives the process, behind one small contract.

Every write asks first whose the session is, and whether its generation has moved on; whoever has
lost the right to write is refused, and nothing of it is stored.
"""
