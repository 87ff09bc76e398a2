#!/usr/bin/env python3
"""An independent client plays two games on a practice server.

berserk (https://pypi.org/project/berserk) knows nothing of concilio. Two bots meet and play a whole game through it,
then one of them plays against a sparring player that answers 1. f3 g4 with the fool's mate.

    berserk_game.py URL WHITE_TOKEN BLACK_TOKEN SPARRING_NAME

Exits with 0 if everything went as it should, otherwise says what did not.
"""

import sys
import threading

import berserk

SCHOLARS_MATE = ["e2e4", "e7e5", "d1h5", "b8c6", "f1c4", "g8f6", "h5f7"]
FOOLS_MATE = ["f2f3", "g2g4"]
PATIENCE_SECONDS = 30


def check(condition, what):
    """Fails with a sentence."""
    if not condition:
        raise AssertionError(what)


def client(url, token):
    """A berserk client of the practice server."""
    return berserk.Client(session=berserk.TokenSession(token), base_url=url)


def wait_for(stream, kind):
    """The next event of a kind."""
    return next(event for event in stream if event["type"] == kind)


def play(api, game_id, is_white, moves):
    """Plays this side's share of the moves; returns the last state of the game."""
    state = None
    for event in api.bots.stream_game_state(game_id):
        if event["type"] == "gameFull":
            state = event["state"]
        elif event["type"] == "gameState":
            state = event
        else:
            continue
        ply = len(state["moves"].split())
        if state["status"] == "started" and (ply % 2 == 0) == is_white and ply < len(moves):
            api.bots.make_move(game_id, moves[ply])
    return state


def accept_and_play(api, me, failures):
    """Black's whole evening: accepts the first challenge, plays its game."""
    try:
        events = api.bots.stream_incoming_events()
        challenge = wait_for(events, "challenge")["challenge"]
        check(challenge["destUser"]["id"] == me, "the challenge is for somebody else")
        api.bots.accept_challenge(challenge["id"])
        game = wait_for(events, "gameStart")["game"]
        check(game["color"] == "black", "the wrong colour")
        state = play(api, game["gameId"], False, SCHOLARS_MATE)
        check(state["winner"] == "white", "the wrong winner")
        finish = wait_for(events, "gameFinish")["game"]
        check(finish["status"]["name"] == "mate", "the game ended otherwise")
    except Exception as error:  # pylint: disable=broad-except
        failures.append(f"black: {error!r}")


def bots_meet(white, black):
    """Two berserk clients play Scholar's mate."""
    check(white.account.get()["title"] == "BOT", "not a bot account")
    names = [api.account.get()["id"] for api in (white, black)]
    failures = []
    thread = threading.Thread(target=accept_and_play, args=(black, names[1], failures), daemon=True)
    thread.start()
    challenge = white.challenges.create(
        names[1], rated=True, clock_limit=60, clock_increment=1, color="white", variant="standard"
    )
    game_id = challenge["id"]
    events = white.bots.stream_incoming_events()
    check(wait_for(events, "gameStart")["game"]["gameId"] == game_id, "another game began")
    white.bots.post_message(game_id, "Good luck")
    state = play(white, game_id, True, SCHOLARS_MATE)
    check(state["status"] == "mate" and state["winner"] == "white", f"ended as {state}")
    thread.join(PATIENCE_SECONDS)
    check(not thread.is_alive(), "Black's stream did not end")
    check(not failures, "; ".join(failures))
    pgn = white.games.export(game_id, as_pgn=True)
    check("Qxf7#" in pgn and '[Result "1-0"]' in pgn, f"the PGN says {pgn}")
    exported = white.games.export(game_id, as_pgn=False)
    check(exported["winner"] == "white" and exported["status"] == "mate", f"the export says {exported}")


def meet_sparring(api, name):
    """The first bot is mated by a sparring player of the server."""
    check(name in [bot["id"] for bot in api.bots.get_online_bots()], f"{name} is not online")
    challenge = api.challenges.create(name, rated=False, clock_limit=60, clock_increment=0, color="white")
    events = api.bots.stream_incoming_events()
    check(wait_for(events, "gameStart")["game"]["opponent"]["id"] == name, "another opponent")
    moves = [FOOLS_MATE[0], None, FOOLS_MATE[1]]
    state = play(api, challenge["id"], True, moves)
    check(state["status"] == "mate" and state["winner"] == "black", f"ended as {state}")
    check(state["moves"] == "f2f3 e7e5 g2g4 d8h4", f"played was {state['moves']}")


def main():
    """Reads the command line, plays both games."""
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    url, white_token, black_token, sparring = sys.argv[1:]
    white, black = client(url, white_token), client(url, black_token)
    bots_meet(white, black)
    meet_sparring(white, sparring)
    print("berserk played two games")


if __name__ == "__main__":
    main()
