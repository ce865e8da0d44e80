"""An Agent Client Protocol agent over standard input and output, for editors."""
