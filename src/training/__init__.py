"""Training and measuring agents: each module is a command, `python -m training.<name> --help`."""

from monopoly_env.files.sources import check_ours
from monopoly_env.kernels import register_package

check_ours("agents")  # before a module of `training` imports from another package of that name
register_package(__name__)
