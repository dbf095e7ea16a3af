"""The page's sentences about whole games, questions and refusals."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.monopoly_table.browser.driver import PageServer

ASK = """async ([game, you]) => {
  const { viewOf } = await import('/modules/facts.js');
  const { ask } = await import('/modules/server.js');
  const { sentences } = await import('/modules/words.js');
  const [about, index] = [await ask('GET', '/about'), await ask('GET', `/games/${game}/index`)];
  const found = { said: [], questions: [], actions: [], refusals: [] };
  for (let number = 0; number < index.version; number += 7) {
    const { frame } = await ask('GET', `/games/${game}/frames/${number}`);
    const view = viewOf({ ...frame, you }, about);
    found.questions.push(view.question.text);
    found.actions.push(...view.actions.map((action) => action.text));
    found.refusals.push(...view.refusals.map((refusal) => refusal.text));
    for (const rows of index.events.slice(number, number + 7))
      found.said.push(...sentences(rows, view, about));
  }
  return found;
}"""
# Words of the engine, and signs of a sentence that was not finished.
STRANGE = re.compile(
    r"undefined|NaN|null|\[object|window|policies|\blots?\b|_|  |\.\.", re.IGNORECASE
)
SECOND = re.compile(r"\bYou (?:\w+s|is|has|does)\b(?<!You pass)(?<!You toss)")
THIRD = re.compile(r"\b[AB]nn? (?:throw|land|pay|get|buy|bid|draw|go|are|have) ")


@pytest.mark.slow
@pytest.mark.parametrize("preset", ["official", "uk", "short"])
def test_a_game_is_told_in_sentences(server: PageServer, page: Any, preset: str) -> None:
    policies = [{"kind": "policy", "policy": "expert", "name": name} for name in ("Ann", "B", "C")]
    game = server.begin(policies, 5, speed=0, rules={"preset": preset}, turn_limit=12)
    page.goto(server.link(game=game))
    page.wait_for_selector(".question.over")
    told = page.evaluate(ASK, [game, [1]])
    for kind, texts in told.items():
        assert texts, kind
        for text in texts:
            assert not STRANGE.search(text), text
    said = " ".join(told["said"])
    assert SECOND.search(said) is None, SECOND.search(said)
    assert THIRD.search(said) is None, THIRD.search(said)
    for sentence in told["said"]:
        assert re.match(r"Turn \d+: |[A-Z].*[.”]$", sentence), sentence
    assert re.search(r"You throw \d+ and land on ", said)
    assert re.search(r"Ann throws \d+ and lands on ", said)
    assert re.search(r"You pay Ann [$£]\d+ rent\.", said) or re.search(r"pays you .* rent\.", said)
    assert ("£" in said, "$" in said) == ((True, False) if preset == "uk" else (False, True))
    assert "The game is over: " in said
