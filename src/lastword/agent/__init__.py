"""An agent on top of an engine: its tools, and what it may do without asking."""
