"""The strength of a trained player of the thesis, compared with all figures of the thesis.

`python -m studies.ocnaru --help`.

python -m studies.ocnaru runs/ocnaru/agent.safetensors --out docs/results/dqn_ocnaru.md

Most of the thesis's figures come from a program that reuses its players from game to game. From the
second game on, a player of the strategic family looks up values of the previous game's lots, finds
none, and practically never buys: 0.04 deeds at the end of a game. `stale` is such a player. Every
figure is measured against fresh opponents and, for that family, against stale ones.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import tyro
from rich.console import Console
from rich.progress import track

from agents import arena
from agents.arena.evaluation import Seating
from agents.networks.ocnaru import NETWORKS, OcnaruNetworks
from agents.players.strategic import POLICIES
from agents.players.strategic.play import play as play_strategic
from monopoly_env.actions import A_BUY
from monopoly_env.cli import command
from monopoly_env.cli.command import Command
from monopoly_env.errors import ConfigurationError
from monopoly_env.facts.board import GROUP_SIZE, GROUPS
from monopoly_env.files import write_atomically
from monopoly_env.game import Game
from monopoly_env.kernels import kernel
from monopoly_env.policy.names import load, make
from monopoly_env.policy.protocol import CompiledPolicy, Mask, Policy, Row, policy_kernel
from monopoly_env.reference import table as markdown
from studies.published import PLAYERS
from training.ocnaru.experts import PASSES
from training.ocnaru.options import TRAINING_GAMES
from training.ocnaru.train import AFTER_EXPERTS

_ask_fresh: Final = kernel(play_strategic.function)

# Published figures by opponent: the thesis's matrix; then wins in games of its shipped networks,
# measured again with the programs of July and May 2025: with reused opponents, and with fresh ones.
CLAIMED: Final = {"ocnaru/random": 0.87, "ocnaru/algorithmic": 0.52, "strategic": 0.89}
REUSED: Final = {"strategic": ("299 of 300", "288 of 300")}
FRESH: Final = {
    "strategic": ("62 of 300", "103 of 300"),
    "ocnaru/algorithmic": ("84 of 300", "195 of 300"),
    "ocnaru/random": ("287 of 300", "261 of 298"),
}
FAMILY: Final = ("strategic", "strategic/late_game", "strategic/cautious")
# the thesis's shares times 6.5, to own games
ROBIN: Final = {"win_rate": 0.86, "bankrupt": 0.13, "worth": 2321, "cash": 1865}
ROBIN_STRATEGIC: Final = 0.51
# what its DQN buys, of all lots that it buys
PURCHASES: Final = {"green": 0.30, "yellow": 0.22, "dark_blue": 0.18}
_HEADINGS: Final = ("win rate", "95% interval", "games")


@dataclass(frozen=True)
class Options:
    """Measure a trained player of the thesis, and compare it with all published figures."""

    agent: tyro.conf.Positional[Path]
    """A file of `training.dqn --preset ocnaru`."""
    out: Path | None = None
    """Write the tables to this Markdown file, too."""
    games: int = 10_000
    """Games of each match; every seed is played from both seats."""
    robin_games: int = 1000
    """Games of each pair of the round robin of 13, of which 12 are the agent's."""
    seed: int = 11
    """Seed of all dice and cards."""
    threads: int | None = None
    """Threads that play; default: one per core. The results are the same."""
    json: bool = False
    """Print one JSON object instead of the tables."""


# --- opponents that are reused from game to game


@policy_kernel
def _play_stale(game: Game, mask: Mask, params: Row, memory: Row) -> int:
    """The strategic agent without purchases."""
    action = _ask_fresh(game, mask, params, memory)
    return A_BUY if action == A_BUY + 1 else action


def stale(name: str) -> CompiledPolicy:
    """A reused player of the strategic family, with values of the previous game.

    Args:
        name: `strategic` or a preset of it.

    Raises:
        ConfigurationError: The name is of another family.
    """
    if name not in POLICIES:
        raise ConfigurationError(
            f"Only the family strategic has values that go stale, not {name!r}."
        )
    return CompiledPolicy(f"{name}, stale", _play_stale, POLICIES[name]().params, reads_mask=False)


# --- measuring


def measure(options: Options, console: Console) -> dict[str, Any]:
    """Play all games.

    Returns:
        `agent`, `seed`, and by section its rows of JSON values: `matches`, `reused`, `networks`,
        `robin`, each row with `win_rate`, `low`, `high` and `games`.

    Raises:
        MonopolyError: The file is no such player, or does not match this version.
    """
    policy = load(options.agent)
    if not isinstance(policy, OcnaruNetworks):
        raise ConfigurationError(
            f"{str(options.agent)!r} is a policy of the kind {policy.kind!r}, not one that --preset"
            " ocnaru has trained."
        )
    base = make(policy.base_policy)
    against = [(policy, make(name)) for name in CLAIMED]
    reused = [
        (who, other)
        for name in FAMILY
        for who in (policy, base)
        for other in (make(name), stale(name))
    ]
    mixtures = _mixtures(policy)
    earlier = options.agent.with_name(AFTER_EXPERTS)
    if earlier.is_file() and isinstance(imitated := load(earlier), OcnaruNetworks):
        mixtures["all, after phase 1"] = imitated
    jobs: list[tuple[str, Callable[[], dict[str, Any]]]] = [
        *(("matches", partial(_match, *pair, options)) for pair in against),
        *(("reused", partial(_match, *pair, options)) for pair in reused),
        *(
            ("networks", partial(_mixture, what, player, base, options))
            for what, player in mixtures.items()
        ),
    ]
    rows: dict[str, list[dict[str, Any]]] = {"matches": [], "reused": [], "networks": []}
    for section, job in track(jobs, "playing", console=console):
        rows[section].append(job())
    field = [policy, *(make(name) for name in PLAYERS)]
    robin = arena.round_robin(
        field, options.robin_games, 2, "ocnaru", options.seed, options.threads
    ).rows()
    rows["robin"] = [
        _row(row)
        | {"player": row["name"], "purchases": [row[f"purchases_{name}"] for name in GROUPS]}
        for row in robin
    ]
    return {
        "agent": str(options.agent),
        "seed": options.seed,
        "heads": list(policy.heads),
        "base_gated": list(policy.base_gated),
    } | rows


def _match(first: Policy, second: Policy, options: Options) -> dict[str, Any]:
    (score,) = arena.against(
        [first], [Seating((second,), "ocnaru")], [options.games], options.seed, options.threads
    )
    return _row(score.rows()[0]) | {"player": first.name, "against": second.name}


def _row(row: dict[str, Any]) -> dict[str, Any]:
    shown = ("win_rate", "games", "bankrupt", "worth", "cash", "lots", "capped_share")
    return {"low": row["paired_low"], "high": row["paired_high"]} | {key: row[key] for key in shown}


def _mixtures(policy: OcnaruNetworks) -> dict[str, OcnaruNetworks]:
    """Players with one network, with all but one, and with all and `upgrade` gated."""
    heads = policy.heads
    mixtures = {f"{head} alone": policy.part((head,), f"{head} alone") for head in heads}
    mixtures |= {
        f"all but {head}": policy.part([h for h in heads if h != head], f"all but {head}")
        for head in heads[:2]
        if len(heads) > 2
    }
    if "upgrade" in heads:
        bound = OcnaruNetworks(
            heads,
            base_policy=policy.base_policy,
            base_gated=(*policy.base_gated, "upgrade"),
            rules=policy.rules,
            name="all, upgrade gated",
        )
        bound.set_arrays(policy.arrays())
        mixtures[bound.name] = bound
    return mixtures | {"all": policy}


def _mixture(what: str, player: OcnaruNetworks, base: Policy, options: Options) -> dict[str, Any]:
    """A mixture against the base policy, and its gain over the base policy against others."""
    row = _match(player, base, options)
    others = ("strategic/late_game", "ocnaru/algorithmic")
    gain = arena.compare(
        player,
        base,
        others,
        options.games // len(others),
        2,
        "ocnaru",
        options.seed,
        options.threads,
    )
    return row | {
        "what": what,
        "gain": gain.difference,
        "gain_low": gain.low,
        "gain_high": gain.high,
    }


# --- the page


def purchases_table(robin: list[dict[str, Any]]) -> str:
    """Shares of the groups in what the agent and the default of the base policy buy."""
    shares = {
        row["player"]: np.array(row["purchases"]) / (sum(row["purchases"]) or 1.0)
        for row in robin
        if row["player"] not in PLAYERS or row["player"] == "strategic"
    }
    rows = [
        [
            name,
            f"{PURCHASES[name]:.0%}" if name in PURCHASES else "",
            *(f"{row[group]:.0%}" for row in shares.values()),
            f"{size / sum(GROUP_SIZE):.0%}",
        ]
        for group, (name, size) in enumerate(zip(GROUPS, GROUP_SIZE, strict=True))
    ]
    headings = ("group", "the thesis", *(f"`{name}`" for name in shares), "of all lots")
    return markdown(headings, rows)


def _cells(row: dict[str, Any]) -> list[str]:
    return [f"{row['win_rate']:.3f}", f"{row['low']:.3f} to {row['high']:.3f}", f"{row['games']:,}"]


def networks_table() -> str:
    """The seven networks, their decisions, and their training at budget 1."""
    rows = [
        [
            f"`{name}`",
            network.size,
            network.outputs,
            network.head,
            network.asked,
            network.rule,
            "yes" if network.base_gated else "",
            PASSES[name],
            f"{TRAINING_GAMES[name]:,}",
        ]
        for name, network in NETWORKS.items()
    ]
    headings = (
        "network",
        "outputs",
        "output i",
        "our head",
        "asked",
        "chooses",
        "only where the base policy would",
        "passes",
        "own games",
    )
    return markdown(headings, rows)


def page(results: dict[str, Any]) -> str:
    """The tables in Markdown."""
    matches = [
        [
            f"`{row['against']}`",
            f"{CLAIMED[row['against']]:.2f}",
            " / ".join(FRESH[row["against"]]),
            *_cells(row),
        ]
        for row in results["matches"]
    ]
    reused = [
        [
            f"`{row['player']}`",
            f"`{row['against']}`",
            " / ".join(REUSED.get(row["against"].removesuffix(", stale"), ("",)))
            if row["against"].endswith("stale") and row["player"] not in POLICIES
            else "",
            *_cells(row),
        ]
        for row in results["reused"]
    ]
    networks = [
        [
            row["what"],
            *_cells(row),
            f"{row['gain']:+.3f} ({row['gain_low']:+.3f} to {row['gain_high']:+.3f})",
        ]
        for row in results["networks"]
    ]
    claimed = {"strategic": f"{ROBIN_STRATEGIC:.2f}"}
    robin = [
        [
            f"`{row['player']}`",
            claimed.get(
                row["player"], "" if row["player"] in PLAYERS else f"{ROBIN['win_rate']:.2f}"
            ),
            *_cells(row),
            f"{row['bankrupt']:.3f}",
            f"{row['worth']:,.0f}",
            f"{row['cash']:,.0f}",
        ]
        for row in results["robin"]
    ]
    parts = (
        "## The thesis's agent: published figures and ours",
        "### Its networks",
        (
            "100 features (`ocnaru100`), layers of 128, 64 and 32 units, ReLU. Trades and debts are"
            " the base policy's. Passes: how often an experience of phase 1 is learned."
        ),
        networks_table(),
        "### Against its three opponents, fresh in every game",
        "Rules `ocnaru`, every seed from both seats; 95% intervals by variance between seeds.",
        markdown(
            ("against", "the thesis", "its networks, fresh opponents, July / May", *_HEADINGS),
            matches,
        ),
        "### Against opponents that are reused from game to game",
        (
            "Stale: as the defect leaves a player of the strategic family from the second game on,"
            " it buys nothing. Whatever plays against it wins: base policy and networks alike."
        ),
        markdown(
            ("player", "against", "its networks, reused opponents, July / May", *_HEADINGS), reused
        ),
        "### What each network adds to its base policy",
        (
            "Win rate against the base policy, and the gain over the base policy against"
            " `strategic/late_game` and `ocnaru/algorithmic`, paired by seed."
        ),
        markdown(("networks", *_HEADINGS, "gain against others"), networks),
        "### Round robin of 13",
        (
            f"The thesis: {ROBIN['win_rate']:.2f} of its own games won, {ROBIN['bankrupt']:.2f}"
            f" ended in its bankruptcy (2% of all games), net worth {ROBIN['worth']:,}, cash"
            f" {ROBIN['cash']:,}."
        ),
        markdown(("player", "the thesis", *_HEADINGS, "bankrupt", "worth", "cash"), robin),
        "### What it buys",
        "Of the lots that a player bought from the bank in the round robin, the shares of groups.",
        purchases_table(results["robin"]),
        "```sh\npython -m studies.ocnaru " + f"{results['agent']} --seed {results['seed']}\n```",
    )
    return "\n\n".join(parts) + "\n"


def execute(options: Options, console: Console) -> dict[str, Any]:
    """Play all games, and write the page on request."""
    results = measure(options, console)
    if options.out:
        write_atomically(options.out, page(results).encode())
    return results


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 0 only if all games were played."""
    measuring = Command(Options(tyro.MISSING), execute, lambda results: print(page(results)))
    return command.main("studies.ocnaru", measuring, arguments)


if __name__ == "__main__":
    sys.exit(main())
