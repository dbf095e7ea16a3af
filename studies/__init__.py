"""What serves one experiment, and writes pages of docs/results: each `python -m studies.X`."""

from monopoly_env.files.sources import check_ours

check_ours("training")  # before a study imports from another package of that name
