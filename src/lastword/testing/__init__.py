"""What a test of an interruptible agent needs."""
