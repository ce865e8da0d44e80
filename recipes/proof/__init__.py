"""What shows that a recipe keeps what its page says: `scripts/recipes` runs it."""
