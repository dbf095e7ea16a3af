"""Speed, measured; no test asserts it."""
