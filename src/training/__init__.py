"""Training and measuring agents: each module is a command, `python -m training.<name> --help`."""

from monopoly_env.kernels import register_package
from monopoly_env.sources import check_ours

check_ours("agents")  # before a module of `training` imports from another package of that name
register_package(__name__)
