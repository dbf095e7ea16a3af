"""Programs of single experiments, which write pages of docs/results: `python -m studies.X`."""

from monopoly_env.files.sources import check_ours

check_ours("training")  # before a study imports from another package of that name
