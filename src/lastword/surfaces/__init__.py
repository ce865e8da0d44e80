"""What every place where people talk has from here: what to draw and to tell, commands, words.

A new surface follows a session (`following`), draws each change of its picture in one `match` that
ends in `assert_never`, offers `commands`, and words questions by `words`; see docs/house.md.
"""

GRACE = 0.25  # seconds between asking a process and killing it, where a person waits for the stop
