"""Where policies in plain Python play, as the table in docs/reference/policies.md says.

Compiled ones play everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import agents
import monopoly_env as me
from monopoly_env import play
from monopoly_env.analyse import resemblance
from monopoly_env.policy import names
from training import experts, exploit
from training.options import PPOOptions, Setup
from training.run.options import replaced

PAGE = (Path(__file__).parents[1] / "docs" / "reference" / "policies.md").read_text(
    encoding="utf-8"
)
ROWS = {
    row: plain == "yes"
    for row, plain in re.findall(r"^\| (.*) \| yes \| (yes|no) \|$", PAGE, re.MULTILINE)
}


class Plain(agents.BatchedPolicy):
    """The first legal action."""

    name = kind = "plain"

    def act(self, decisions: Any) -> Any:
        return decisions.mask.argmax(axis=1)


@pytest.fixture(autouse=True)
def _registered() -> None:
    names.register("plain", Plain)


def game() -> Any:
    return me.new_game(2, seed=1)


def command(name: str) -> None:
    assert play.main(["--players", name, "random", "--max-turns", "1", "--boards", "0"]) == 0


def learner(name: str) -> Any:
    return Setup.of(replaced(PPOOptions(), opponents=(name,)))


# A word of each row -> what happens there.
PLACES: dict[str, Callable[[str], Any]] = {
    "VectorMonopoly": lambda name: me.VectorMonopoly(
        1, opponents=[name], seat=1, rules=SHORT
    ).reset(),
    "arena": lambda name: agents.arena.play([name, "random"], games=1, rules=SHORT),
    "monopoly_env.play": command,
    "training.exploit": lambda name: exploit.Options(agent=name).check(),
    "rollout": lambda name: me.rollout(game(), name, n=1, turns=1),
    "resemblance": lambda name: resemblance(game(), [], [name]),
    "search": lambda name: agents.make("search", base=name),
    "leagues": learner,
    "training.experts": lambda name: experts.check(experts.ExpertOptions(players=(name,))),
}
SHORT = me.Rules(max_turns=1)


@pytest.mark.parametrize("row", ROWS)
def test_a_policy_in_plain_python_plays_where_the_page_says(row: str) -> None:
    (place,) = (place for word, place in PLACES.items() if word in row)
    place("random")
    if ROWS[row]:
        place("plain")
    else:
        with pytest.raises(me.ConfigurationError, match=r"'plain' is not compiled.*policies\.md"):
            place("plain")


def test_the_page_has_all_of_these_rows() -> None:
    assert len(ROWS) == len(PLACES)
