"""Computes the figures of a report again, by the formulas that Lichess publishes and from the values in the annotated games alone.

    lichess_figures.py FOLDER      of a report; prints as JSON how far both agree

Written from https://lichess.org/page/accuracy and what lila's module `analyse` does, without a look at the program that made
the report: the values after the moves come from `[%eval]` in games.pgn, what the judge would have played from moves.csv.
"""

import csv
import json
import math
import statistics
import sys
from collections import defaultdict
from pathlib import Path

import chess
import chess.engine
import chess.pgn

START = 15  # centipawns that the start is worth for White
LABELS = {6: "inaccuracy", 2: "mistake", 4: "blunder"}


def centipawns(score):
    """From White's side, a mate as ten pawns, nothing more than that."""
    value = score.score(mate_score=100_000)
    return max(-1000, min(1000, value))


def chances(value):
    return 2 / (1 + math.exp(-0.00368208 * value)) - 1


def mates(score):
    return score.is_mate() and score > chess.engine.Cp(0)


def label(before, after):
    """Both from the mover's side, as python-chess has scores."""
    walked_in = after.is_mate() and not mates(after)
    if mates(before) and not mates(after):
        left = -math.inf if walked_in else after.score()
        return "inaccuracy" if left > 999 else "mistake" if left > 700 else "blunder"
    if walked_in and not before.is_mate():
        had = before.score()
        return "inaccuracy" if had < -999 else "mistake" if had < -700 else "blunder"
    if before.is_mate() or after.is_mate():
        return ""
    loss = chances(centipawns(before)) - chances(centipawns(after))
    return next((name for least, name in ((0.3, "blunder"), (0.2, "mistake"), (0.1, "inaccuracy")) if loss >= least), "")


def accuracies(values):
    """White's and Black's, by the centipawns for White after every move."""
    percents = [50 + 50 * chances(value) for value in (START, *values)]
    size = min(8, max(2, len(values) // 10))
    windows = [percents[:size]] * (min(size, len(percents)) - 2)
    windows += [percents[at:at + size] for at in range(len(percents) - size + 1)]
    moves = defaultdict(list)
    for at, window in enumerate(windows[:len(values)]):
        sign = 1 if at % 2 == 0 else -1
        lost = max(0, sign * (percents[at] - percents[at + 1]))
        exact = 103.1668100711649 * math.exp(-0.04354415386753951 * lost) - 3.166924740191411 + 1 if lost else 100
        moves[at % 2].append((max(0, min(100, exact)), max(0.5, min(12, statistics.pstdev(window)))))
    return [
        (statistics.fmean([exact for exact, _ in side], [weight for _, weight in side])
         + statistics.harmonic_mean([max(1, exact) for exact, _ in side])) / 2
        for side in (moves[0], moves[1])
    ]


def average_losses(values):
    pairs = list(zip((START, *values), values))
    losses = [max(0, before - after if at % 2 == 0 else after - before) for at, (before, after) in enumerate(pairs)]
    return [statistics.fmean(losses[side::2]) for side in (0, 1)]


def table(path, key):
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {tuple(row[name] for name in key): row for row in rows}


def main():
    folder = Path(sys.argv[1])
    games = list(table(folder / "games.csv", ("server", "game")).items())
    moves = table(folder / "moves.csv", ("server", "game", "ply"))
    found = {"games": 0, "moves": 0, "labels": 0, "labels_alike": 0, "accuracy_apart": 0.0, "average_loss_apart": 0.0}
    with open(folder / "games.pgn", encoding="utf-8") as file:
        for key, told in games:
            game = chess.pgn.read_game(file)
            before, values = chess.engine.PovScore(chess.engine.Cp(START), chess.WHITE), []
            for at, node in enumerate(game.mainline()):
                mated = chess.engine.PovScore(chess.engine.MateGiven, not node.turn())
                after = node.eval() or (mated if node.board().is_checkmate() else before)
                mover = not node.turn()
                better = moves[(*key, str(at))]["better"]
                ours = label(before.pov(mover), after.pov(mover)) if better else ""
                theirs = next((LABELS[glyph] for glyph in node.nags if glyph in LABELS), "")
                if ours or theirs:
                    found["labels"] += 1
                    found["labels_alike"] += ours == theirs
                values.append(centipawns(after.white()))
                before = after
            found["games"] += 1
            found["moves"] += len(values)
            sides = ("", "opponent_") if told["our_color"] == "white" else ("opponent_", "")
            for name, computed in (("accuracy", accuracies(values)), ("average_loss", average_losses(values))):
                apart = max(abs(float(told[side + name]) - own) for side, own in zip(sides, computed))
                found[name + "_apart"] = max(found[name + "_apart"], round(apart, 3))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
