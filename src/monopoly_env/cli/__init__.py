"""Command lines: options, errors, tables in the terminal, libraries of extras."""
