"""Task 8, code: a policy kernel is written in at most ten submissions.

Each is scored, and the best is measured with fresh seeds. A submission is a program, run only with
the user's consent, in a separate process: `python -m monopoly_bench.tasks.code ORDER ANSWER`. A
series is a folder with the submitted files, 01.py to 10.py, and a log of their scores.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Final, TypeAlias

import tyro

from agents.arena import Seating
from monopoly_bench import result, suite
from monopoly_bench.result import ResultOptions
from monopoly_bench.task import TaskScore, share_of_wins
from monopoly_env.errors import ConfigurationError, FormatError, MonopolyError, whole_number
from monopoly_env.files import read_file, read_json, understood, write_atomically
from monopoly_env.policy.protocol import CompiledPolicy, PolicyKernel, policy_kernel

NAME: Final = "code"
METRIC: Final = "share of the win of the best submission, fresh seeds"
SUBMISSIONS: Final = 10
OPPONENTS: Final = ("expert", "algorithmic", "gcp", "fp/a/guarded", "strategic/late_game", "random")
SEEDS: Final = (50, 2)  # of each opponent, for a submission; each seed is two games
FINAL_SEEDS: Final = (200, 4)
TURN_LIMIT: Final = 500
FINAL: Final = "final.json"
FUNCTION: Final = "play"
NUMBERS: Final = "PARAMS"
# Random streams of the suite: submissions and the final measure share no seed
STREAMS: Final = {"submission": 81, "final": 82}
_LOG: Final = "log.jsonl"
Entry: TypeAlias = dict[str, Any]  # a line of it
_MOST_BYTES: Final = 1 << 20


@dataclass(frozen=True)
class CodeOptions(ResultOptions):
    """Score a policy kernel that is written in at most ten submissions.

    The file has a function `play(game, mask, params, memory)` (docs/tutorials/policy.md), and
    optionally a list of numbers `PARAMS`. IT IS A PROGRAM: it runs on this machine with all your
    rights, without a sandbox. So read it first; it runs only with --run-code. Without a file,
    --final measures the best submission with fresh seeds, and ends the series.
    """

    file: Annotated[Path | None, tyro.conf.Positional, tyro.conf.arg(metavar="FILE")] = None
    """The kernel to submit, a Python file."""
    folder: Path = Path("runs/code")
    """The folder of the series: its submissions and their scores."""
    run_code: bool = False
    """Run the submitted program. Use it only after you have read the file."""
    final: bool = False
    """Measure the best submission with fresh seeds, and end the series."""
    seconds: float = 600.0
    """Time limit of a submission."""
    quick: bool = False
    """A few games, as a trial."""
    threads: int | None = None
    """Threads that play; default: one per core. The scores are the same."""


def run(options: CodeOptions, report: Callable[[str], None]) -> dict[str, Any]:
    """Score a submission, or measure the best one; returns the JSON result.

    Raises:
        ConfigurationError: The options are invalid, code may not be run, or the series is over.
        FormatError: The log of the series is damaged.
    """
    if options.final == (options.file is not None):
        raise ConfigurationError(
            "Name a file to submit it, or give --final to measure the best submission: one of the"
            " two."
        )
    if not options.seconds > 0:
        raise ConfigurationError(f"seconds={options.seconds} must be positive.")
    whole_number("threads", options.threads or 1, 1)
    if not options.run_code:
        raise ConfigurationError(
            "A submission is a program, and it would be run with all your rights. Read it; then add"
            " --run-code."
        )
    if (options.folder / FINAL).exists():
        raise ConfigurationError(
            f"The series in {str(options.folder)!r} is over: its final score is in {FINAL}. Begin"
            " another --folder."
        )
    log = read_log(options.folder)
    if options.file is not None:
        return _submit(log, options.file, options, report)
    found = _finish(log, options)
    write_atomically(options.folder / FINAL, (json.dumps(found, indent=1) + "\n").encode())
    return found


def read_log(folder: Path) -> list[Entry]:
    """The submissions of a series, with their scores or errors.

    Raises:
        FormatError: The log is damaged, or a submitted file has changed since it was scored.
    """
    path = folder / _LOG
    if not path.exists():
        return []
    log = [read_json(line) for line in read_file(path).splitlines()]
    with understood(path):
        for number, entry in enumerate(log, 1):
            file = folder / _file(number)
            named = (entry["submission"], entry["file"]) == (number, file.name)
            if not named or entry["sha256"] != _sha256(file):
                raise FormatError(f"{str(file)!r} is not submission {number} as it was scored.")
            float(entry.get("score", 0))
    return log


def _submit(
    log: list[Entry], file: Path, options: CodeOptions, report: Callable[[str], None]
) -> dict[str, Any]:
    number = len(log) + 1
    if number > SUBMISSIONS:
        raise ConfigurationError(
            f"The series in {str(options.folder)!r} has its {SUBMISSIONS} submissions. Measure the"
            " best with --final."
        )
    saved = write_atomically(options.folder / _file(number), read_file(file, _MOST_BYTES))
    began = time.monotonic()
    outcome = measured(saved, "submission", SEEDS[options.quick], options)
    about = {"submission": number, "file": saved.name, "sha256": _sha256(saved)}
    log.append({**about, "quick": options.quick, **outcome})
    lines = "".join(json.dumps(entry) + "\n" for entry in log)
    write_atomically(options.folder / _LOG, lines.encode())
    report(f"submission {number} of {SUBMISSIONS}: {outcome.get('error') or outcome['score']}")
    return _document(log, log[-1], "share of the win, seeds of submissions", options, began)


def _finish(log: list[Entry], options: CodeOptions) -> dict[str, Any]:
    scored = [entry for entry in log if "score" in entry]
    if not scored:
        raise ConfigurationError(
            f"The series in {str(options.folder)!r} has no submission that was scored."
        )
    best, began = max(scored, key=lambda entry: entry["score"]), time.monotonic()
    outcome = measured(options.folder / best["file"], "final", FINAL_SEEDS[options.quick], options)
    if "error" in outcome:
        raise ConfigurationError(
            f"Submission {best['submission']} failed in the final measure: {outcome['error']}"
        )
    return _document(log, {**best, **outcome}, METRIC, options, began)


def _document(
    log: list[Entry], entry: Entry, metric: str, options: CodeOptions, began: float
) -> dict[str, Any]:
    """The result of one submission, with the scores of all."""
    scores = [
        {name: one[name] for name in ("submission", "sha256", "score", "error") if name in one}
        for one in log
    ]
    details = {"submission": entry["submission"], "submissions": scores}
    if "error" in entry:
        row: dict[str, Any] = {
            "task": 8, "name": NAME, "metric": metric, "higher_is_better": True,
            "absent": entry["error"], "details": details,
        }  # fmt: skip
    else:
        numbers = {name: entry[name] for name in ("score", "low", "high", "count")}
        score = TaskScore(**numbers, details={**entry["details"], **details})
        row = result.row(NAME, metric, score, time.monotonic() - began)
    name = f"submission {entry['submission']}"
    agent = {"name": name, "sha256": entry["sha256"], "tasks": [row]}
    return result.document(suite.load(options.suite), [agent], quick=options.quick)


def measured(file: Path, stream: str, seeds: int, options: CodeOptions) -> dict[str, Any]:
    """The score or the error of a file, from a process with a time limit."""
    seed = suite.load(options.suite).game_seed(STREAMS[stream])
    order = {
        "file": str(file.resolve()), "opponents": OPPONENTS, "seeds": seeds, "seed": seed,
        "threads": options.threads,
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        asked, answer = Path(folder) / "order.json", Path(folder) / "answer.json"
        asked.write_text(json.dumps(order), encoding="utf-8")
        words = [sys.executable, "-m", "monopoly_bench.tasks.code", str(asked), str(answer)]
        pipes: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
        try:
            done = subprocess.run(words, timeout=options.seconds, text=True, check=False, **pipes)
        except subprocess.TimeoutExpired:
            return {"error": f"it took longer than {options.seconds:g} seconds"}
        if not answer.exists():
            last = done.stderr.strip().splitlines()[-1:] or ["nothing"]
            return {"error": f"it ended with status {done.returncode} and said: {last[0][:200]}"}
        outcome: dict[str, Any] = read_json(read_file(answer, _MOST_BYTES))
        return outcome


def _file(number: int) -> str:
    return f"{number:02}.py"


def _sha256(file: Path) -> str:
    return hashlib.sha256(read_file(file)).hexdigest()


def load(path: Path) -> CompiledPolicy:
    """The policy of a file, which is executed.

    The file has a function `play(game, mask, params, memory)`, and optionally a list `PARAMS`.

    Raises:
        ConfigurationError: The file has no such function, or it can't be run or compiled.
    """
    names: dict[str, Any] = {"__name__": path.stem, "__file__": str(path)}
    try:
        exec(compile(read_file(path), str(path), "exec"), names)
    except Exception as error:
        raise ConfigurationError(
            f"{path.name} can't be run: {type(error).__name__}: {error}"
        ) from error
    if FUNCTION not in names:
        raise ConfigurationError(
            f"{path.name} has no function {FUNCTION}(game, mask, params, memory)."
        )
    found = names[FUNCTION]
    kernel = found if isinstance(found, PolicyKernel) else policy_kernel(found)
    policy = CompiledPolicy(path.stem, kernel, names.get(NUMBERS, ()))
    assert policy.kernel.handle  # it compiles
    return policy


def main(order: Path, answer: Path) -> int:
    """Carry out an order of `measured`, and write the score or the error, both as JSON."""
    asked = json.loads(order.read_text(encoding="utf-8"))
    opponents = asked.pop("opponents")
    seatings = [Seating((name,), "official", TURN_LIMIT) for name in opponents]
    try:
        policy = load(Path(asked.pop("file")))
        found = asdict(share_of_wins(policy, seatings, opponents, **asked))
    except (MonopolyError, ArithmeticError, LookupError) as error:
        # Also errors of the kernel during games
        found = {"error": f"{type(error).__name__}: {error}"}
    answer.write_text(json.dumps(found), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
