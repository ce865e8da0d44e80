"""What an agent's runs change in files: what was there is kept, and can be taken back."""
