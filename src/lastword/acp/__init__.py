"""An Agent Client Protocol agent over standard input and output, for editors.

Nothing but the protocol leaves, and each line is checked right before it does. A prompt has one
answer: when its run has ended, or with the receipt of what ended it.
"""
