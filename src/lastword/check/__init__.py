"""Does it stop? A kit that judges agents by what can be seen of them after a stop.

It knows nothing of how lastword is made, and imports nothing of it but the scripted provider:
lastword is judged through the same doors as everybody else.
"""
