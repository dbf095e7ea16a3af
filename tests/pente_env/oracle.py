"""Pente in plain Python, written from the rules alone: a dictionary of stones, one loop a rule.

Slow and without cleverness.
"""

from __future__ import annotations

from dataclasses import dataclass, field

EIGHT = [(dr, dc) for dr in (-1, 0, 1) for dc in (-1, 0, 1) if (dr, dc) != (0, 0)]
FOUR = [(0, 1), (1, 0), (1, 1), (-1, 1)]


@dataclass
class Board:
    size: int
    players: int
    stones: dict[tuple[int, int], int] = field(default_factory=dict)
    captured: list[int] = field(default_factory=list)
    player: int = 0
    captures: str = "pairs"
    overlines: str = "win"

    def on_board(self, r: int, c: int) -> bool:
        return 0 <= r < self.size and 0 <= c < self.size

    def empty(self) -> list[tuple[int, int]]:
        return [
            (r, c) for r in range(self.size) for c in range(self.size) if (r, c) not in self.stones
        ]

    def is_empty(self, p: tuple[int, int]) -> bool:
        return self.on_board(*p) and p not in self.stones

    def taken_by(self, seat: int, p: tuple[int, int]) -> list[tuple[int, int]]:
        """The stones that a stone of this seat takes there."""
        taken = []
        lengths = {"pairs": (2,), "keryo": (2, 3), "none": ()}[self.captures]
        for dr, dc in EIGHT:
            for length in lengths:
                between = [(p[0] + i * dr, p[1] + i * dc) for i in range(1, length + 1)]
                behind = (p[0] + (length + 1) * dr, p[1] + (length + 1) * dc)
                owners = {self.stones.get(q) for q in between}
                if (
                    len(owners) == 1
                    and owners.isdisjoint({None, seat})
                    and self.stones.get(behind) == seat
                ):
                    taken += between
        return taken

    def longest(self, seat: int, p: tuple[int, int]) -> list[int]:
        """The length of the run through a point on each line, if the seat had a stone there."""
        runs = []
        for dr, dc in FOUR:
            length = 1
            for sign in (1, -1):
                r, c = p[0] + sign * dr, p[1] + sign * dc
                while self.stones.get((r, c)) == seat:
                    length, r, c = length + 1, r + sign * dr, c + sign * dc
            runs.append(length)
        return runs

    def makes_five(self, seat: int, p: tuple[int, int]) -> bool:
        return any(
            run == 5 or (run > 5 and self.overlines == "win") for run in self.longest(seat, p)
        )

    def put(self, p: tuple[int, int]) -> tuple[int | None, str]:
        """Put a stone of the seat to move; the winner and the reason of the end."""
        seat = self.player
        self.stones[p] = seat
        taken = self.taken_by(seat, p)
        for q in taken:
            del self.stones[q]
        self.captured[seat] += len(taken)
        self.player = (seat + 1) % self.players
        five = self.makes_five(seat, p)
        pairs = self.captured[seat] >= (15 if self.captures == "keryo" else 10)
        if five or pairs:
            return seat, "five+pairs" if five and pairs else "five" if five else "pairs"
        return None, "none" if self.empty() else "full"

    def run_ends(self, length: int, seat: int) -> list[tuple[int, int]]:
        """Empty ends of the runs of exactly so many stones of any other seat."""
        ends = set()
        for p, owner in self.stones.items():
            for dr, dc in EIGHT:
                run = [(p[0] + i * dr, p[1] + i * dc) for i in range(length)]
                before, after = (p[0] - dr, p[1] - dc), (p[0] + length * dr, p[1] + length * dc)
                whole = all(self.stones.get(q) == owner for q in run)
                if (
                    owner != seat
                    and whole
                    and self.stones.get(before) != owner
                    and self.stones.get(after) != owner
                ):
                    ends |= {q for q in (before, after) if self.is_empty(q)}
        return sorted(ends)

    def preparations(self, seat: int, pairs: bool) -> list[tuple[int, int]]:
        """Empty points from which a line goes on with an enemy stone and two more points.

        The second is empty or has the same enemy's stone, the third is empty.
        """
        found = set()
        for p in self.empty():
            for dr, dc in EIGHT:
                one, two, three = ((p[0] + i * dr, p[1] + i * dc) for i in (1, 2, 3))
                enemy = self.stones.get(one)
                second = self.is_empty(two) or (pairs and self.stones.get(two) == enemy)
                if enemy is not None and enemy != seat and second and self.is_empty(three):
                    found.add(p)
        return sorted(found)

    def builder(
        self, seat: int, seed: tuple[int, int], axis: int, axes: int, needs_room: bool
    ) -> tuple[int, list[tuple[int, int]]]:
        """The axis that a builder is at, and the free ends of its run, the forward one first.

        `axes` if it is boxed in.
        """
        for number in range(axis, axes):
            dr, dc = FOUR[number]
            line = [(seed[0] + i * dr, seed[1] + i * dc) for i in range(-self.size, self.size + 1)]
            here = [self.stones.get(p) == seat for p in line]
            free = [own or self.is_empty(p) for own, p in zip(here, line, strict=True)]
            start = end = self.size
            while free[start - 1]:
                start -= 1
            while free[end + 1]:
                end += 1
            if needs_room and end - start + 1 < 5:
                continue
            start = end = self.size
            while here[start - 1]:
                start -= 1
            while here[end + 1]:
                end += 1
            ends = [line[i] for i in (end + 1, start - 1) if self.is_empty(line[i])]
            if ends:
                return number, ends
        return axes, []
