#!/usr/bin/env python3
"""A player for concilio: it takes what is worth most, and moves at random where there is nothing to take (own-player.md)."""

import json
import random
import sys

WORTH = {"p": 1, "n": 3, "b": 3, "r": 5, "q": 9}


def pieces(fen):
    """The pieces on the board by their squares."""
    found = {}
    for rank, row in zip("87654321", fen.split(" ")[0].split("/")):
        file = 0
        for letter in row.split("[")[0].replace("~", ""):
            if letter.isdigit():
                file += int(letter)
            else:
                found["abcdefgh"[file] + rank] = letter.lower()
                file += 1
    return found


for line in sys.stdin:
    position = json.loads(line)
    on = pieces(position["fen"])
    gain = {move: WORTH.get(on.get(move[2:4]), 0) for move in position["legal"]}
    most = max(gain.values())
    best = random.choice([move for move in gain if gain[move] == most])
    print(best, 100 * most, flush=True)
