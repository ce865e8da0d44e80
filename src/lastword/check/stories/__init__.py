"""The stories, each one function; `catalogue` has what is said of them."""
