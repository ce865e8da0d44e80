"""asyncio on the outside, core on the inside."""
