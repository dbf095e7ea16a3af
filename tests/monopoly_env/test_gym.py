"""The Gymnasium environments."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers import RecordVideo
from stable_baselines3.common.env_checker import check_env as check_env_sb3
from stable_baselines3.common.env_util import make_vec_env

import agents
import monopoly_env as me
from monopoly_env import encoding, monopoly_v0
from monopoly_env.actions import HEADS, NUM_ACTIONS
from monopoly_env.envs.gym import MonopolyEnv, MonopolyVectorEnv
from monopoly_env.envs.spaces import MaskedDiscrete
from monopoly_env.render import raster
from tests.play import chosen
from tests.programs import python

ID = "monopoly_env/Monopoly-v0"


def choose_all(masks: Any, number: int) -> Any:
    return np.array([chosen(mask, number + 31 * index) for index, mask in enumerate(masks)])


def play(env: Any, steps: int) -> list[Any]:
    """Steps of one game after another; what came of them."""
    story = []
    mask = env.action_masks()
    for number in range(steps):
        observation, reward, terminated, truncated, info = env.step(chosen(mask, number))
        story.append(
            (observation.tobytes(), reward, terminated, truncated, info["decision"], info["seat"])
        )
        mask = info["action_mask"]
        if terminated or truncated:
            mask = env.reset()[1]["action_mask"]
    return story


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"opponents": ["random"]},
        {"opponents": ["algorithmic"], "seat": 1, "rules": "ocnaru", "encoding": "ocnaru100"},
        {"opponents": ["random", "algorithmic"], "rules": "any_time", "reward": "net_worth_shaped"},
        {"opponents": ["random"] * 7, "rules": "mukhar", "seat": 0},
        {"opponents": ["random"], "illegal": "random"},
    ],
    ids=["default", "two", "ocnaru", "three", "eight", "illegal"],
)
def test_checkers(options: Any, capsys: pytest.CaptureFixture[str]) -> None:
    # Several times: each draws other actions from the same space.
    for _ in range(3):
        check_env(gymnasium.make(ID, **options).unwrapped)
        check_env_sb3(gymnasium.make(ID, **options).unwrapped)
    assert me.to_text(me.new_game(2)).split()[0] in capsys.readouterr().out  # what `human` printed


def test_by_name() -> None:
    script = (
        f"import {{0}}; import {{1}}\nenv = gymnasium.make('{ID}', opponents=['random'], seat=0);"
        f" print(type(env.unwrapped).__name__)\nenvs = gymnasium.make_vec('{ID}', num_envs=2,"
        " opponents=['random'],"
        " vectorization_mode='vector_entry_point')\nprint(type(envs).__name__, envs.num_envs)"
    )
    for order in (("gymnasium", "monopoly_env"), ("monopoly_env", "gymnasium")):
        done = python("-c", script.format(*order))
        assert done.stdout == "MonopolyEnv\nMonopolyVectorEnv 2\n", done.stderr
    quiet = (
        "import sys, monopoly_env; print([m for m in ('torch', 'rich', 'pandas', 'agents') if m in"
        " sys.modules])"
    )
    assert python("-c", quiet).stdout == "[]\n"


def test_observations_and_masks() -> None:
    env = MonopolyEnv(["random", "algorithmic"], seat=1)
    observation, info = env.reset(seed=3)
    for number in range(300):
        assert env.game.player == info["seat"] == 1
        assert (observation == encoding.observe(env.game, seat=1)).all()
        assert (info["action_mask"] == me.action_mask(env.game)).all()
        assert (env.action_masks() == info["action_mask"]).all()
        assert {
            key: (np.shape(value), np.asarray(value).dtype.name) for key, value in info.items()
        } == {
            "action_mask": ((NUM_ACTIONS,), "int8"),
            "decision": ((), "int64"),
            "heads": ((14,), "int8"),
            "seat": ((), "int64"),
        }
        assert info["decision"] == env.game.decision
        assert info["heads"].tolist() == [
            info["action_mask"][head.slice].any() for head in HEADS.values()
        ]
        kept = observation, info["action_mask"], env.action_masks()
        before = copy.deepcopy(kept)
        observation, _, terminated, truncated, info = env.step(chosen(info["action_mask"], number))
        assert all((now == then).all() for now, then in zip(kept, before, strict=True)), (
            "what was returned stays as it is"
        )
        if terminated or truncated:
            observation, info = env.reset()


def test_seeds() -> None:
    env = MonopolyEnv(["random"], turn_limit=5)
    stories = []
    for seed in (1, 1, 2):
        env.reset(seed=seed)
        stories.append(play(env, 400))
    assert stories[0] == stories[1] != stories[2]
    assert {step[5] for step in stories[0]} == {0, 1}, "the seat changes from game to game"


def test_the_seed_is_the_seed_of_the_game() -> None:
    """In every environment, and so are those of the games that follow without a seed."""
    env, vec, aec = MonopolyEnv(["random"]), MonopolyVectorEnv(3, ["random"]), monopoly_v0.env(2)
    followers = []
    for seed in (0, 7, 2**64 - 3):
        env.reset(seed=seed)
        vec.reset(seed=seed)
        aec.reset(seed=seed)
        assert env.table.seeds.tolist() == [seed]
        assert vec.table.seeds.tolist() == [seed, seed + 1, seed + 2]
        assert (aec.game.seed == me.new_game(2, seed=seed).seed).all()
        following = []
        for _ in range(3):
            env.reset()
            vec.reset()
            aec.reset()
            following.append(int(env.table.seeds[0]))
            assert following[-1] == vec.table.seeds[0]
            assert (aec.game.seed == env.game.seed).all()
        followers += following
    assert len(set(followers)) == 9
    assert MonopolyEnv(["random"]).reset()[1]["seat"] in (0, 1), "without any seed"
    with pytest.raises(me.ConfigurationError, match=r"2\*\*64"):
        env.reset(seed=2**64)


def test_options_of_reset() -> None:
    for env in (MonopolyEnv(["random"]), MonopolyVectorEnv(2, ["random"])):
        env.reset(options={})
        with pytest.raises(me.ConfigurationError, match="Unknown option 'rules' of reset"):
            env.reset(options={"rules": "short"})


@pytest.mark.parametrize("opponents", [["random"], ["random", "algorithmic", "random"]])
def test_an_illegal_action_may_end_the_game_of_the_learner(opponents: list[str]) -> None:
    env = MonopolyEnv(opponents, illegal="penalize", reward="rank_shaped")
    env.reset(seed=0)
    play(env, 100)
    _, info = env.reset()
    before = me.digest(env.game)
    observation, reward, terminated, truncated, info = env.step(int(info["action_mask"].argmin()))
    assert (reward, terminated, truncated, info["decision"]) == (-1.0, True, False, 0)
    assert me.digest(env.game) == before
    assert not info["action_mask"].any()
    assert (observation == encoding.observe(env.game, seat=info["seat"])).all()
    with pytest.raises(me.GameOverError, match=r"reset\(\)"):
        env.step(0)
    assert env.reset()[1]["action_mask"].any()


def test_the_learner_sees_how_a_game_ends() -> None:
    """A good player against a bad one: he mostly wins, and in the turn of the other."""
    learner = agents.make("algorithmic")
    env = MonopolyEnv(["random", "random"])
    env.reset(seed=0)
    turns, ends = set(), []
    for _ in range(8000):
        action = learner.act(agents.Decisions(env.table.games.copy()))[0]
        observation, reward, terminated, truncated, info = env.step(action)
        if not terminated and not truncated:
            assert reward == 0.0
            continue
        place = env.game.place[info["seat"]]
        assert terminated
        assert place != 0
        assert reward == pytest.approx(1.0 if place == 1 else -0.5)
        assert info["decision"] == 0
        assert not info["heads"].any()
        assert not info["action_mask"].any()
        assert (observation == encoding.observe(env.game, seat=info["seat"])).all()
        with pytest.raises(me.GameOverError, match=r"reset\(\)"):
            env.step(0)
        ends.append(reward)
        turns.add((reward, bool(env.game.turn == info["seat"])))
        env.reset()
    assert len(ends) > 10
    assert (1.0, False) in turns


def test_truncation() -> None:
    env = MonopolyEnv(["random"], turn_limit=2)
    mask = env.reset(seed=0)[1]["action_mask"]
    terminated = truncated = False
    while not truncated:
        _, reward, terminated, truncated, info = env.step(chosen(mask, 0))
        mask = info["action_mask"]
        assert not terminated
    assert env.game.turns == 5
    assert reward == 0.0
    assert not mask.any()


def test_a_refused_action_changes_nothing() -> None:
    env = MonopolyEnv(["random"])
    with pytest.raises(me.GameOverError, match=r"reset\(\)"):
        env.step(0)
    _, info = env.reset(seed=0)
    before = me.digest(env.game)
    for action in np.flatnonzero(info["action_mask"] == 0):
        with pytest.raises(me.IllegalActionError, match=r"^Action .* Legal: "):
            env.step(action)
    for action in (-1, NUM_ACTIONS, None, 1.5, "buy", [0, 1]):
        with pytest.raises(
            me.ConfigurationError, match=r"^Action .* must be an integer from 0 to 204"
        ):
            env.step(action)
    assert me.digest(env.game) == before


def test_sampling_is_legal() -> None:
    env = gymnasium.make(ID, opponents=["random"])
    env.reset(seed=0)
    env.action_space.seed(0)
    seen = set()
    for _ in range(500):
        action = env.action_space.sample()
        assert env.unwrapped.action_masks()[action]
        seen.add(int(action))
        _, _, terminated, truncated, _ = env.step(action)
        if terminated or truncated:
            env.reset()
    assert len(seen) > 30
    mask = np.zeros(NUM_ACTIONS, np.int8)
    mask[7] = 1
    assert env.action_space.sample(mask) == 7
    alone = copy.deepcopy(env.action_space)
    assert alone == env.action_space == MaskedDiscrete()
    assert len({int(alone.sample()) for _ in range(200)}) > 100, (
        "apart from its environment it is a plain Discrete"
    )


def test_a_number_is_never_bent_into_a_legal_action() -> None:
    env = MonopolyEnv(["random"])
    env.reset(seed=0)
    drawn = env.action_space.sample()
    while True:
        env.reset()
        if not env.action_masks()[drawn]:
            break
        env.step(chosen(env.action_masks(), 1))
        drawn = env.action_space.sample()
    with pytest.raises(me.IllegalActionError):
        env.step(int(drawn))
    env.step(drawn)  # the draw itself stands for a legal action of the new game


def test_copies_go_on_alike() -> None:
    env = MonopolyEnv(["random", "algorithmic"])
    env.reset(seed=5)
    play(env, 50)
    twin = copy.deepcopy(env)
    assert play(twin, 300) == play(env, 300)
    assert twin.action_space.source is twin.table.batch


@pytest.mark.parametrize("mode", ["ansi", "human"])
def test_render(mode: str, capsys: pytest.CaptureFixture[str]) -> None:
    env = gymnasium.make(ID, opponents=["random"], render_mode=mode)
    env.reset(seed=0)
    text = env.render()
    printed = capsys.readouterr().out
    assert (text or printed).rstrip("\n") == me.to_text(env.unwrapped.game).rstrip("\n")
    assert (text is None) == (mode == "human")


def test_pictures() -> None:
    env = gymnasium.make(ID, opponents=["random"], render_mode="svg")
    env.reset(seed=0)
    svg = env.render()
    assert svg == str(me.draw(env.unwrapped.game))
    env = gymnasium.make(ID, opponents=["random"], render_mode="rgb_array")
    env.reset(seed=0)
    pixels = env.render()
    assert pixels.shape == (732, 732, 3)
    assert pixels.dtype == np.uint8
    assert (pixels == raster.pixels(svg)).all()


def test_videos_are_recorded(tmp_path: Path) -> None:
    env = gymnasium.make(ID, opponents=["random"], render_mode="rgb_array")
    recorder = RecordVideo(
        env, str(tmp_path / "videos"), episode_trigger=lambda number: number == 0, video_length=3
    )
    _, info = recorder.reset(seed=0)
    for _ in range(3):
        *_, info = recorder.step(int(info["action_mask"].argmax()))
    recorder.close()
    videos = list(tmp_path.glob("videos/*.mp4"))
    assert len(videos) == 1
    assert b"ftyp" in videos[0].read_bytes()[:16]


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"opponents": []}, "1 to 7 policies"),
        ({"opponents": "random"}, "1 to 7 policies"),
        ({"opponents": ["randon"]}, "'random'"),
        ({"seat": 9}, "seat=9"),
        ({"rules": "oficial"}, "'official'"),
        ({"render_mode": "rgb"}, "rgb"),
    ],
)
def test_bad_arguments(wrong: Any, named: str) -> None:
    for make in (MonopolyEnv, MonopolyVectorEnv):
        with pytest.raises(me.MonopolyError, match=named):
            make(**wrong)


# --- the vector environment


def test_vector_environment() -> None:
    envs = gymnasium.make_vec(
        ID, num_envs=6, vectorization_mode="vector_entry_point", opponents=["random"], turn_limit=5
    )
    assert isinstance(envs, MonopolyVectorEnv)
    assert envs.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    assert envs.single_observation_space.shape == (encoding.size("standard", 2),)
    observations, infos = envs.reset(seed=1)
    ended = 0
    for number in range(400):
        assert observations in envs.observation_space
        assert infos["_action_mask"].all()
        assert (infos["action_mask"] == envs.action_masks()).all()
        actions = choose_all(infos["action_mask"], number)
        assert actions in envs.action_space
        observations, rewards, terminations, truncations, infos = envs.step(actions)
        assert observations.dtype == np.float32
        assert rewards.dtype == np.float64
        over = terminations | truncations
        assert not rewards[~over].any()
        assert ("final_obs" in infos) == over.any()
        if over.any():
            assert (infos["_final_obs"] == over).all()
            assert (infos["_final_info"] == over).all()
            for index in np.flatnonzero(over):
                assert infos["final_obs"][index] in envs.single_observation_space
                assert not (infos["final_obs"][index] == observations[index]).all()
                assert infos["final_info"]["decision"][index] == 0
                assert rewards[index] in ((-1.0, 1.0) if terminations[index] else (0.0,))
            assert all(infos["final_obs"][index] is None for index in np.flatnonzero(~over))
            ended += over.sum()
    assert ended > 10
    envs.close()


def test_vector_environment_and_synchronous_ones_tell_the_same() -> None:
    """Keys, shapes and dtypes are those of Gymnasium's own vector in the same mode.

    That is a vector of single environments.
    """
    options = {"opponents": ["random"], "turn_limit": 2}
    native = gymnasium.make_vec(ID, num_envs=3, vectorization_mode="vector_entry_point", **options)
    single = gymnasium.make_vec(
        ID,
        num_envs=3,
        vectorization_mode="sync",
        vector_kwargs={"autoreset_mode": AutoresetMode.SAME_STEP},
        **options,
    )
    assert native.single_observation_space == single.single_observation_space
    assert native.observation_space == single.observation_space
    assert native.action_space == single.action_space
    finals = []
    for envs in (native, single):
        _, infos = envs.reset(seed=1)
        assert infos["action_mask"].shape == (3, NUM_ACTIONS)
        final = {}
        for number in range(100):
            observations, rewards, terminations, _, infos = envs.step(
                choose_all(infos["action_mask"], number)
            )
            assert (observations.shape, rewards.shape, terminations.dtype) == (
                envs.observation_space.shape,
                (3,),
                np.bool_,
            )
            assert infos["action_mask"].dtype == np.int8
            final = infos.get("final_info", final)
        finals.append(
            [
                {
                    key: (value.shape, value.dtype)
                    for key, value in about.items()
                    if "final" not in key
                }
                for about in (infos, final)
            ]
        )
    assert finals[0] == finals[1]
    assert all(len(about) == 8 for about in finals[0])


def test_vector_environment_by_seed() -> None:
    envs = MonopolyVectorEnv(4, ["random"])
    stories = []
    for seed in (7, 7, 8):
        _, infos = envs.reset(seed=seed)
        story = []
        for number in range(60):
            observations, rewards, _, _, infos = envs.step(choose_all(infos["action_mask"], number))
            story.append((observations.tobytes(), rewards.tobytes()))
        stories.append(story)
    assert stories[0] == stories[1] != stories[2]
    first = envs.reset()[0]
    assert (envs.reset()[0] != first).any(), "without a seed new games begin"


def test_vector_environment_samples_legal_actions() -> None:
    envs = MonopolyVectorEnv(5, ["random"])
    envs.reset(seed=0)
    envs.action_space.seed(0)
    for _ in range(100):
        actions = envs.action_space.sample()
        assert envs.action_masks()[np.arange(5), actions].all()
        envs.step(actions)
    with pytest.raises(me.IllegalActionError, match="Game 0 of 5: Action"):
        envs.step(envs.action_masks().argmin(axis=1))
    with pytest.raises(me.ConfigurationError, match=r"shape \(5,\)"):
        envs.step([0])
    with pytest.raises(me.ConfigurationError, match="render_mode='ansi'"):
        MonopolyVectorEnv(2, ["random"], render_mode="ansi")


def test_vector_wrappers() -> None:
    envs = gymnasium.wrappers.vector.RecordEpisodeStatistics(
        MonopolyVectorEnv(4, ["random"], turn_limit=4)
    )
    _, infos = envs.reset(seed=0)
    lengths = []
    for number in range(300):
        _, _, terminations, truncations, infos = envs.step(choose_all(infos["action_mask"], number))
        if (terminations | truncations).any():
            lengths.extend(infos["episode"]["l"][infos["_episode"]])
    assert len(lengths) > 5
    assert min(lengths) > 0


@pytest.mark.parametrize("mode", AutoresetMode)
def test_vector_environment_and_synchronous_ones_play_the_same(mode: AutoresetMode) -> None:
    """The same games from the same seeds, in each autoreset mode, until the mode ends it."""
    options = {"opponents": ["random", "algorithmic"], "turn_limit": 3}
    native = gymnasium.make_vec(
        ID, num_envs=4, vectorization_mode="vector_entry_point", autoreset_mode=mode, **options
    )
    single = gymnasium.make_vec(
        ID, num_envs=4, vectorization_mode="sync", vector_kwargs={"autoreset_mode": mode}, **options
    )
    assert native.autoreset_mode is native.metadata["autoreset_mode"] is mode
    (observations, infos), (same, _) = native.reset(seed=3), single.reset(seed=3)
    ended = 0
    for number in range(150):
        assert (observations == same).all()
        actions = [
            chosen(mask, number + index) if mask.any() else 0
            for index, mask in enumerate(infos["action_mask"])
        ]
        observations, *results, infos = native.step(np.array(actions))
        same, *expected, others = single.step(np.array(actions))
        assert all(
            (result == wanted).all() for result, wanted in zip(results, expected, strict=True)
        )
        assert all(
            (infos[key] == others[key]).all()
            for key in ("action_mask", "decision", "heads", "seat")
        )
        over = results[1] | results[2]
        ended += over.sum()
        if mode is AutoresetMode.SAME_STEP and over.any():
            assert all(
                (infos["final_obs"][i] == others["final_obs"][i]).all()
                for i in np.flatnonzero(over)
            )
            assert all(
                (infos["final_info"][key][over] == others["final_info"][key][over]).all()
                for key in ("decision", "seat")
            )
        if mode is AutoresetMode.DISABLED and over.any():
            with pytest.raises(me.GameOverError, match="has ended"):
                native.step(np.array(actions))
            (observations, infos), (same, _) = (
                envs.reset(options={"reset_mask": over.copy()}) for envs in (native, single)
            )
    assert ended > 8


def test_some_games_begin_again() -> None:
    envs = MonopolyVectorEnv(4, ["random"])
    with pytest.raises(me.ConfigurationError, match=r"reset\(\)"):
        envs.reset(options={"reset_mask": np.array([True, False, False, False])})
    envs.reset(seed=0)
    for number in range(30):
        envs.step(choose_all(envs.action_masks(), number))
    before, seeds = envs.table.games.copy(), envs.table.seeds
    mask = np.array([False, True, True, False])
    envs.reset(seed=[5, 6, None, 7], options={"reset_mask": mask})
    now = envs.table.seeds
    assert (envs.table.games[~mask] == before[~mask]).all()
    assert now[1] == 6
    assert now[2] not in (*seeds, 7)
    for wrong in ([True], np.ones(4), np.ones((4, 1), bool), "all"):
        with pytest.raises(me.ConfigurationError, match=r"bools of shape \(4,\)"):
            envs.reset(options={"reset_mask": wrong})
    for wrong in ([1, 2, 3], [1] * 5):
        with pytest.raises(me.ConfigurationError, match="seeds are given for 4 games"):
            envs.reset(seed=wrong)


def test_games_are_cut_off_at_max_episode_steps() -> None:
    envs = gymnasium.make_vec(
        ID,
        num_envs=3,
        vectorization_mode="vector_entry_point",
        opponents=["random"],
        max_episode_steps=7,
    )
    _, infos = envs.reset(seed=0)
    for number in range(1, 29):
        _, _, terminations, truncations, infos = envs.step(choose_all(infos["action_mask"], number))
        assert not terminations.any()
        assert truncations.all() == truncations.any() == (number % 7 == 0)


def test_illegal_actions_of_the_vector_environment() -> None:
    envs = MonopolyVectorEnv(4, ["random"], illegal="penalize")
    _, infos = envs.reset(seed=0)
    actions = choose_all(infos["action_mask"], 0)
    actions[2] = infos["action_mask"][2].argmin()
    _, rewards, terminations, _, infos = envs.step(actions)
    assert rewards.tolist() == [0, 0, -1, 0]
    assert terminations.tolist() == [False, False, True, False]
    assert infos["final_info"]["_decision"].tolist() == terminations.tolist()
    assert envs.table.games["turns"][2] < 3, "the next game has begun"
    envs = MonopolyVectorEnv(4, ["random"], illegal="random", turn_limit=5)
    envs.reset(seed=0)
    ended = sum(
        np.logical_or(*envs.step(envs.action_masks().argmin(axis=1))[2:4]).sum() for _ in range(300)
    )
    assert ended > 4


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"autoreset_mode": "samestep"}, "'SameStep'"),
        ({"max_episode_steps": 0}, "max_episode_steps=0"),
        ({"illegal": "ignore"}, "illegal='ignore'"),
    ],
)
def test_bad_arguments_of_the_vector_environment(wrong: Any, named: str) -> None:
    with pytest.raises(me.ConfigurationError, match=named):
        MonopolyVectorEnv(2, ["random"], **wrong)


def test_stable_baselines_makes_environments() -> None:
    """It asks for pictures first, and takes a TypeError for a no."""
    with pytest.raises(TypeError, match="rgb"):
        MonopolyEnv(["random"], render_mode="rgb")
    envs = make_vec_env(ID, 2, seed=0, env_kwargs={"opponents": ["random"]})
    assert envs.reset().shape == (2, encoding.size("standard", 2))
    actions = np.array([mask.argmax() for mask in envs.env_method("action_masks")])
    assert envs.step(actions)[0].shape == (2, encoding.size("standard", 2))
