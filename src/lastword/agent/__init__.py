"""An agent on top of an engine: its tools, and what it may do without asking.

Whatever its tools do is done through the run, so a stop ends it. A call that no rule allows is
asked for, and made only when the answer is on record.
"""
