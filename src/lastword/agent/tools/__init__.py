"""What an agent can do: files, command lines, pages of the web."""
