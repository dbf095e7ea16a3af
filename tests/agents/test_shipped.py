"""Nothing may change what the networks that come with the library see, or what they choose."""

from __future__ import annotations

import pytest

from tests import shipped

REMEDY = (
    "Restore the formula, bargaining.json or values/best.safetensors; or train the shipped networks"
    " again (docs/results/learned.md) and record with `python -m tests.shipped`."
)


@pytest.mark.parametrize("players", shipped.TABLES)
def test_networks_see_what_they_were_trained_on(players: int) -> None:
    expected = shipped.recorded()["features"][str(players)]
    games = shipped.positions(shipped.recorded()["games"][str(players)], players)
    found = shipped.features(games)
    changed = [
        f"{name!r} is {found.get(name)}, was {mean}"
        for name, mean in expected.items()
        if found.get(name) != pytest.approx(mean, rel=1e-5, abs=1e-8)
    ]
    assert not changed, (
        f"These features of `compact` are not what the shipped networks of {players} players were"
        f" trained on (sums over recorded positions): {'; '.join(changed)}. {REMEDY}"
    )
    assert found.keys() == expected.keys()


@pytest.mark.parametrize("name", shipped.names())
def test_networks_choose_as_recorded(name: str) -> None:
    recorded = shipped.recorded()
    assert shipped.actions(name, recorded["games"]) == recorded["actions"][name], (
        f"{name!r} does not choose the same actions at recorded positions. {REMEDY}"
    )
