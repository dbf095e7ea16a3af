"""What writes the pages of docs/results: each `python -m studies.X`, from a checkout."""
