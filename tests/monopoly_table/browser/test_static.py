"""The table on a static host: the rules run in the browser."""

from __future__ import annotations

import importlib.util
import shutil
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

import agents
import monopoly_env as me
from monopoly_env.policy.match import Match
from monopoly_table import static
from tests import wasm
from tests.monopoly_table.browser.driver import OVER, OWN, click_on, expect, wait_for_own_question

pytestmark = pytest.mark.skipif(
    not importlib.util.find_spec("ziglang"),
    reason="NOT TESTED: the table without a server needs ziglang",
)


class Quiet(SimpleHTTPRequestHandler):
    """Serves a folder without a log."""

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("static")
    static.write(folder)
    shutil.copytree(wasm.folder(), folder / "library")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


SETUP = """async () => {
  const { ask, go } = await import('./modules/local.js');
  const seats = [{ kind: 'person', name: 'Ann' }, { kind: 'policy', policy: 'expert' }];
  const rules = { preset: 'short', options: {} };
  go(await ask('POST', '/games', { seats, rules, seed: 1, speed: 0, turn_limit: 4 }));
}"""


WATCHED = """async () => {
  const { GameSocket, ask } = await import('./modules/local.js');
  const seats = [{ kind: 'policy', policy: 'expert' }, { kind: 'policy', policy: 'algorithmic' }];
  const setup = { seats, rules: { preset: 'short', options: {} }, seed: 5, speed: 0 };
  const { game } = await ask('POST', '/games', setup);
  const end = await new Promise((over) => {
    const socket = new GameSocket(game, (state) => state.frame?.record.ending && over(state));
  });
  const { events } = await ask('GET', `/games/${game}/index`);
  return { record: end.frame.record, events };
}"""


def test_a_game_of_policies_is_that_of_python(address: str, page: Any) -> None:
    page.goto(address)
    page.wait_for_selector("[data-begin]")
    told = page.evaluate(WATCHED)
    policies = [agents.make("expert"), agents.make("algorithmic")]
    match = Match(me.new_game(2, "short", 5), policies)
    rows = []
    while match.policy:
        rows.append(match.play(match.ask()))
    assert told["events"] == rows
    own = ("rules", "policy_draws")  # told apart; counted by whoever asks a policy
    names = [name for name in match.game.dtype.names if name not in own]
    assert {name: told["record"][name] for name in names} == {
        name: match.game[name].tolist() for name in names
    }


def test_a_game_is_played_without_a_server(address: str, page: Any) -> None:
    page.goto(address)
    page.wait_for_selector("[data-begin]")
    page.evaluate(SETUP)
    page.wait_for_selector(OWN)
    expect(page.locator("#panel-B .cash")).to_contain_text("$")
    page.keyboard.press("h")
    page.wait_for_selector(".candidates tbody tr")
    page.keyboard.press("h")
    page.context.set_offline(True)
    for _ in range(3):
        click_on(page)
        wait_for_own_question(page)
    page.context.set_offline(False)
    version = page.locator("main.table").get_attribute("data-version")
    page.reload()
    page.wait_for_selector(OWN)
    assert page.locator("main.table").get_attribute("data-version") == version
    while wait_for_own_question(page):
        click_on(page)
    expect(page.locator(OVER)).to_contain_text("won")
