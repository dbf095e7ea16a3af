"""Networks that learn from pairs: their losses by hand, a problem with a known answer, and margins against a slow reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from agents.networks.forward import evaluate
from agents.networks.learned.networks import FEATURES, NAMES, OUTPUT, STARTS, pack
from agents.networks.learned.policy import NEVER, LearnedPolicy
from monopoly_env.actions import HEADS, NUM_ACTIONS
from training.rollouts import dueling
from training.rollouts.dueling import MARGINS, DuelingNetworks, Examples, Settings, choose_margins, learn, losses, values
from training.rollouts.pairs import PAIR, Pairs
from training.run.session import DivergenceError

pytestmark = pytest.mark.usefixtures("one_thread")
CPU = torch.device("cpu")
SETTINGS = Settings(epochs=12, batch=256, learning_rate=3e-3, weight_decay=0.1, state_weight=0.1, seed=0, threads=2)
JAIL = NAMES.index("jail")
PAY, CARD, STAY = HEADS["jail"].start, HEADS["jail"].start + 1, HEADS["turn"].start


def random_networks(seed: int = 0) -> DuelingNetworks:
    """Networks that know nothing but say something."""
    torch.manual_seed(seed)
    networks = DuelingNetworks()
    with torch.no_grad():
        for name in NAMES:
            networks[name].last.weight.normal_(0, 0.1)
            networks[name].last.bias.normal_(0, 0.1)
    return networks


def random_pairs(count: int, seed: int = 0) -> Pairs:
    """Pairs of all networks with chance for results."""
    generator = np.random.default_rng(seed)
    pairs = np.zeros(count, PAIR)
    pairs["game"] = np.arange(count) // 4
    pairs["network"] = generator.integers(len(NAMES), size=count)
    for pair in pairs:
        valued = np.flatnonzero(OUTPUT[pair["network"]] >= 0)
        pair["base"], pair["other"] = generator.choice(valued, 2, replace=False)
        open_ = np.isin(np.arange(NUM_ACTIONS), [pair["base"], pair["other"], *generator.choice(valued, 2)])
        pair["open"] = np.packbits(open_)
    pairs["base_won"], pairs["other_won"] = generator.integers(2, size=(2, count))
    return Pairs((generator.random((count, FEATURES)) < 0.1).astype(np.float16), pairs)


def everything(*chunks: Pairs) -> list[NDArray[np.bool_]]:
    return [np.ones(len(chunk.pairs), np.bool_) for chunk in chunks]


def by_hand(networks: DuelingNetworks, name: str, seen: NDArray[Any]) -> NDArray[np.float64]:
    """All outputs of a network in float64, from its arrays."""
    arrays, signal = networks.arrays(), seen.astype(np.float64)
    for layer in range(2):
        signal = np.maximum(signal @ arrays[f"{name}.{layer}.weight"] + arrays[f"{name}.{layer}.bias"], 0)
    outputs: NDArray[np.float64] = signal @ arrays[f"{name}.2.weight"].T + arrays[f"{name}.2.bias"]
    return outputs


# --- networks -----------------------------------------------------------------------------------------------------------


def test_the_saved_agent_says_what_torch_says() -> None:
    networks, seen = random_networks(), random_pairs(20).seen.astype(np.float32)
    weights = pack(LearnedPolicy().changed(**networks.arrays()).arrays()).view(np.float32)
    for number, name in enumerate(NAMES):
        with torch.no_grad():
            expected = networks[name](torch.from_numpy(seen)).numpy()
        assert np.allclose(evaluate(weights[STARTS[number] : STARTS[number + 1]], seen), expected, atol=1e-5)
        assert expected.std() > 0.01


def test_arrays_are_copies() -> None:
    networks = random_networks()
    arrays = networks.arrays()
    before = {name: array.copy() for name, array in arrays.items()}
    with torch.no_grad():
        for parameter in networks.parameters():
            parameter.zero_()
    assert all(np.array_equal(before[name], array) for name, array in arrays.items())


def test_losses_by_hand() -> None:
    networks, chunks = random_networks(), [random_pairs(150), random_pairs(50, 1)]
    rows = [chunk.pairs["game"] % 3 != 0 for chunk in chunks]
    for number, name in enumerate(NAMES):
        pairs = np.concatenate([chunk.pairs[at] for chunk, at in zip(chunks, rows, strict=True)])
        seen = np.concatenate([chunk.seen[at] for chunk, at in zip(chunks, rows, strict=True)])
        mine = pairs["network"] == number
        outputs, squares = by_hand(networks, name, seen[mine]), []
        for said, pair in zip(outputs, pairs[mine], strict=True):
            base, other = (said[0] + said[OUTPUT[number, pair[action]]] for action in ("base", "other"))
            squares.append(
                (
                    ((other - base) - (pair["other_won"] - pair["base_won"])) ** 2,
                    ((base - pair["base_won"]) ** 2 + (other - pair["other_won"]) ** 2) / 2,
                )
            )
        assert len(squares) > 5
        given = losses(networks[name], Examples.of(number, chunks, rows, CPU))
        assert [loss.item() for loss in given] == pytest.approx(np.mean(squares, axis=0), abs=1e-5)


@pytest.mark.parametrize("count", [0, 1, 2])
def test_a_network_with_next_to_no_pairs_is_no_trouble(count: int) -> None:
    chunk = jail_games(count, 0)
    examples = Examples.of(JAIL, [chunk], everything(chunk), CPU)
    assert examples.base_won.tolist() == chunk.pairs["base_won"].tolist()
    assert len(learn([chunk], everything(chunk), SETTINGS, CPU, lambda told: None).arrays()) == 6 * len(NAMES)


def test_at_first_no_action_is_better_than_another() -> None:
    examples = Examples.of(JAIL, [random_pairs(100)], everything(random_pairs(100)), CPU)
    base, other = values(DuelingNetworks()["jail"], examples)
    assert torch.equal(base, other)


# --- a problem with a known answer --------------------------------------------------------------------------------------

# In jail, by two flags that are seen: the chance to win by paying, by a card, and by staying. The parent always pays.
CHANCES = {(0, 0): (0.5, 0.4, 0.3), (0, 1): (0.3, 0.5, 0.4), (1, 0): (0.3, 0.2, 0.6), (1, 1): (0.6, 0.5, 0.2)}
BEST = {flags: (PAY, CARD, STAY)[int(np.argmax(chances))] for flags, chances in CHANCES.items()}
FLAGS = (17, 203)  # places in the observation
NOISE = range(300, 320)


def jail_games(count: int, seed: int, *, gain: float = 1.0) -> Pairs:
    """Pairs of this problem; both games of one share their luck, and features that say nothing are seen, too.

    With gain 0 no action is better than the parent's.
    """
    generator = np.random.default_rng(seed)
    pairs, seen = np.zeros(count, PAIR), np.zeros((count, FEATURES), np.float16)
    seen[:, NOISE] = generator.random((count, len(NOISE))) < 0.3
    flags = generator.integers(2, size=(count, 2))
    seen[:, FLAGS] = flags
    luck, tried = generator.random(count), generator.integers(1, 3, size=count)
    pairs["game"], pairs["network"], pairs["base"] = np.arange(count), JAIL, PAY
    pairs["other"] = np.where(tried == 1, CARD, STAY)
    pairs["open"] = np.packbits(np.isin(np.arange(NUM_ACTIONS), [PAY, CARD, STAY]))
    for row in range(count):
        chances = CHANCES[flags[row, 0], flags[row, 1]]
        pairs["base_won"][row] = luck[row] < chances[0]
        pairs["other_won"][row] = luck[row] < chances[0] + gain * (chances[tried[row]] - chances[0])
    return Pairs(seen, pairs)


def test_a_small_problem_is_solved_to_its_known_optimum() -> None:
    chunks, held = [jail_games(6000, seed) for seed in (0, 1)], [jail_games(2000, 2)]
    networks = learn(chunks, everything(*chunks), SETTINGS, CPU, lambda told: None)
    margins, gains = choose_margins(networks, held, everything(*held), 1.64, CPU)
    assert margins[JAIL] < 0.2
    assert list(gains) == ["jail"]
    best = np.mean([max(0.0, *(chance - chances[0] for chance in chances[1:])) for chances in CHANCES.values()])
    assert gains["jail"] == pytest.approx(best, abs=0.02)
    seen = np.zeros((4, FEATURES), np.float16)
    seen[:, FLAGS] = list(BEST)
    for outputs, wanted in zip(by_hand(networks, "jail", seen), BEST.values(), strict=True):
        said = {action: outputs[OUTPUT[JAIL, action]] for action in (PAY, CARD, STAY)}
        said[PAY] += margins[JAIL]
        assert max(said, key=lambda action: said[action]) == wanted


def test_where_nothing_is_gained_the_parent_is_not_left() -> None:
    chunks, held = [jail_games(6000, 0, gain=0.0)], [jail_games(2000, 2, gain=0.0)]
    networks = learn(chunks, everything(*chunks), SETTINGS, CPU, lambda told: None)
    margins, gains = choose_margins(networks, held, everything(*held), 1.64, CPU)
    assert (margins == NEVER).all()
    assert gains == {}


def test_networks_that_are_wrong_do_not_choose() -> None:
    """What they learned from says the opposite of what they are judged by."""
    chunks, held = [jail_games(6000, 0)], [jail_games(2000, 2)]
    chunks[0].pairs["other_won"], chunks[0].pairs["base_won"] = chunks[0].pairs["base_won"].copy(), chunks[0].pairs["other_won"].copy()
    networks = learn(chunks, everything(*chunks), SETTINGS, CPU, lambda told: None)
    assert (choose_margins(networks, held, everything(*held), 1.64, CPU)[0] == NEVER).all()


# --- learning -----------------------------------------------------------------------------------------------------------


def test_learning_repeats_to_the_bit_whatever_the_threads_and_follows_its_seed() -> None:
    chunk = random_pairs(3000)
    told: list[dict[str, float]] = []
    quick = SETTINGS._replace(epochs=1)
    first, again, other = (
        learn([chunk], everything(chunk), settings, CPU, lambda losses: told.append(dict(losses))).arrays()
        for settings in (quick, quick._replace(threads=1), quick._replace(seed=1))
    )
    assert all(np.array_equal(array, again[name]) for name, array in first.items())
    assert not any(np.array_equal(array, other[name]) for name, array in first.items() if "weight" in name)
    assert [set(losses) for losses in told[: len(NAMES)]] == [{f"difference/{name}", f"value/{name}"} for name in NAMES]
    assert told[: len(NAMES)] == told[len(NAMES) : 2 * len(NAMES)]


def test_rows_that_are_held_out_teach_nothing() -> None:
    chunk = jail_games(2000, 0)
    rows = chunk.pairs["game"] % 2 == 0
    spoiled = Pairs(chunk.seen.copy(), chunk.pairs.copy())
    spoiled.seen[~rows] = np.nan
    quick = SETTINGS._replace(epochs=1)
    networks = [learn([pairs], [rows], quick, CPU, lambda told: None).arrays() for pairs in (chunk, spoiled)]
    assert all(np.array_equal(array, networks[1][name]) for name, array in networks[0].items())


def test_a_network_with_few_pairs_learns_nothing_and_never_chooses() -> None:
    chunk = jail_games(150, 0)
    told: list[object] = []
    networks = learn([chunk], everything(chunk), SETTINGS, CPU, lambda losses: told.append(dict(losses)))
    assert told == [{}] * len(NAMES)
    assert not networks["jail"].last.weight.any()
    assert (choose_margins(random_networks(), [chunk], everything(chunk), 0.0, CPU)[0] == NEVER).all()


def test_a_loss_that_is_not_finite_stops() -> None:
    chunk = jail_games(1000, 0)
    chunk.seen[:, 3] = np.inf
    with pytest.raises(DivergenceError, match=r"The loss of the network 'jail' is (nan|inf)\. Try a lower learning rate"):
        learn([chunk], everything(chunk), SETTINGS, CPU, lambda told: None)


# --- margins ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("confidence", [0.0, 1.0])
def test_margins_against_a_slow_reference(monkeypatch: pytest.MonkeyPatch, confidence: float) -> None:
    monkeypatch.setattr(dueling, "_ROWS", 64)  # several parts
    networks, chunks = random_networks(), [random_pairs(5000), random_pairs(5000, 1)]
    rows = [chunk.pairs["game"] % 4 != 0 for chunk in chunks]
    margins, gains = choose_margins(networks, chunks, rows, confidence, CPU)
    chosen = 0
    for number, name in enumerate(NAMES):
        better, brought, game = [], [], []
        for place, (chunk, at) in enumerate(zip(chunks, rows, strict=True)):
            mine = at & (chunk.pairs["network"] == number)
            outputs = by_hand(networks, name, chunk.seen[mine])
            for said, pair in zip(outputs, chunk.pairs[mine], strict=True):
                others = np.flatnonzero(np.unpackbits(pair["open"], count=NUM_ACTIONS))
                others = others[others != pair["base"]]
                if pair["other"] != others[said[OUTPUT[number, others]].argmax()]:
                    continue
                better.append(said[OUTPUT[number, pair["other"]]] - said[OUTPUT[number, pair["base"]]])
                brought.append(float(pair["other_won"]) - float(pair["base_won"]))
                game.append((place, int(pair["game"])))
        bounds = []
        for margin in MARGINS:
            gain = np.where(np.array(better) > margin, brought, 0.0)
            sums = [sum(g - gain.mean() for g, of in zip(gain, game, strict=True) if of == one) for one in sorted(set(game))]
            error = (len(sums) / (len(sums) - 1) * sum(s**2 for s in sums)) ** 0.5 / len(gain)
            bounds.append((gain.mean() - confidence * error, gain.mean()))
        best = max(range(len(MARGINS)), key=lambda k: bounds[k][0])
        if bounds[best][0] > 0:
            assert margins[number] == MARGINS[best]
            assert gains[name] == pytest.approx(bounds[best][1], abs=1e-6)
            chosen += 1
        else:
            assert margins[number] == NEVER
            assert name not in gains
    assert 0 < chosen < len(NAMES)
