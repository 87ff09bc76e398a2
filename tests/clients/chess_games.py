#!/usr/bin/env python3
"""An independent match runner plays with the council.

python-chess (https://pypi.org/project/chess) knows nothing of concilio. It plays two quick games of `concilio uci` against
`concilio uci --single`, one on a clock and one by nodes, and one game against `concilio xboard`.

    chess_games.py CONCILIO

Exits with 0 if every move was legal, in time, and every game came to an end; otherwise says what was not.
"""

import sys
import time

import chess
import chess.engine

COUNCIL = ["--set", "player.council.roster=mbxkcpar mp ma", "--set", "player.council.hash=1"]
MARGIN_SECONDS = 1.0
# Turns a hang into a failure.
PATIENCE_SECONDS = 120.0
MOST_PLIES = 200


def check(condition, what):
    """Fails with a sentence."""
    if not condition:
        raise AssertionError(what)


def play(white, black, limit_of, name):
    """Plays a game; `limit_of` says what the side to move may use."""
    board, clocks = chess.Board(), {chess.WHITE: 10.0, chess.BLACK: 10.0}
    while not board.is_game_over(claim_draw=True) and board.ply() < MOST_PLIES:
        engine = white if board.turn else black
        began = time.monotonic()
        reply = engine.play(board, limit_of(clocks), game=name, info=chess.engine.INFO_ALL)
        clocks[board.turn] += 0.05 - (time.monotonic() - began)
        check(reply.move in board.legal_moves, f"{name}: {reply.move} is not legal in {board.fen()}")
        check(clocks[board.turn] > -MARGIN_SECONDS, f"{name}: lost on time in {board.fen()}")
        clocks[board.turn] = max(clocks[board.turn], 0.01)
        board.push(reply.move)
    check(board.ply() > 8, f"{name}: over after {board.ply()} plies")
    print(f"{name}: {board.result(claim_draw=True)} after {board.ply()} plies")


def clock(clocks):
    """A limit by the clocks."""
    return chess.engine.Limit(
        white_clock=clocks[chess.WHITE], black_clock=clocks[chess.BLACK], white_inc=0.05, black_inc=0.05
    )


def nodes(_):
    """A limit by nodes of each elector."""
    return chess.engine.Limit(nodes=1000)


def main():
    """Reads the command line, plays the games."""
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    concilio = sys.argv[1]
    single = chess.engine.SimpleEngine.popen_uci([concilio, "uci", "--single"], timeout=PATIENCE_SECONDS)
    council = chess.engine.SimpleEngine.popen_uci([concilio, "uci", *COUNCIL], timeout=PATIENCE_SECONDS)
    xboard = chess.engine.SimpleEngine.popen_xboard([concilio, "xboard", *COUNCIL], timeout=PATIENCE_SECONDS)
    check("Roster" in council.options and "Criterion" in xboard.options, "options are missing")
    play(council, single, clock, "council with White on a clock")
    play(single, council, nodes, "council with Black by nodes")
    play(xboard, single, clock, "xboard with White on a clock")
    for engine in (single, council, xboard):
        engine.quit()


if __name__ == "__main__":
    main()
