"""The house: what the routes and sockets of one server share."""

from __future__ import annotations

import asyncio
import secrets
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

from monopoly_env import core, puzzles_or_none
from monopoly_env.serve import analysis, messages, recordings, safety, setups, tables, views
