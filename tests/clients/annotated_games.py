"""Reads annotated games with python-chess, which must find no fault in them; prints what it found as JSON."""

import json
import sys

import chess.pgn

counts = {"games": 0, "errors": 0, "moves": 0, "evals": 0, "clocks": 0, "glyphs": 0, "variations": 0}
with open(sys.argv[1], encoding="utf-8") as file:
    while (game := chess.pgn.read_game(file)) is not None:
        counts["games"] += 1
        counts["errors"] += len(game.errors)
        for node in game.mainline():
            counts["moves"] += 1
            counts["evals"] += node.eval() is not None
            counts["clocks"] += node.clock() is not None
            counts["glyphs"] += len(node.nags)
            counts["variations"] += len(node.parent.variations) - 1
print(json.dumps(counts))
