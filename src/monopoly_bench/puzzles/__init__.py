"""Puzzles: positions from games in which one answer is clearly the best. Guess, then see.

    from monopoly_bench import puzzles

    puzzle = puzzles.load()[0]
    print(puzzle)                    # the position, the question and its answers
    print(puzzle.best.text)          # the solution

`python -m monopoly_bench.puzzles` finds more of them.
"""

from monopoly_bench.puzzles.mine import mine
from monopoly_bench.puzzles.puzzle import KINDS, Puzzle, load, save

__all__ = ["KINDS", "Puzzle", "load", "mine", "save"]
