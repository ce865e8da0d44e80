"""What an agent can do: files, command lines, pages of the web.

Command lines are processes of the run, and end with it; files are reached below their roots only.
"""
