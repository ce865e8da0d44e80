"""A report, as each of its readers wants it."""
