"""What is in a run's process: the engine, and a `Run` whose effects are begun by the host."""
