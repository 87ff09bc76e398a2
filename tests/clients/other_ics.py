"""A small chess server of the FICS family with habits of its own, for tests of clients that must not depend on one server's.

It knows no interface variables, reads no settings back, numbers no offers, has neither `resume`, `history` nor `pending`, does not
greet with "Starting FICS session", shows clocks in whole seconds and boards without the newest fields, ends lines with CR LF,
echoes what is typed, and shows the last board once more after a game's end. A match with somebody with whom a game
waits resumes it.

    other_ics.py [NAME:PASSWORD ...]     prints the port it listens on; everybody else is a guest
    drop NAME                            (typed by anybody) cuts NAME's connection, as a bad network would
"""

import asyncio
import random
import string
import sys

import chess


class Player:
    """Somebody who is logged in."""

    def __init__(self, name, guest, writer):
        self.name, self.guest, self.writer = name, guest, writer
        self.game = None

    def say(self, text):
        self.writer.write(("\r\n" + text.replace("\n", "\r\n") + "\r\nfics% ").encode())


class Game:
    """A game between two names; it outlives their connections."""

    def __init__(self, number, white, black, minutes, increment):
        self.number, self.names = number, {chess.WHITE: white, chess.BLACK: black}
        self.minutes, self.increment = minutes, increment
        self.board = chess.Board()
        self.sans = []
        self.offers = {}

    def has(self, *names):
        return set(names) <= {name.lower() for name in self.names.values()}

    def color_of(self, name):
        return chess.WHITE if self.names[chess.WHITE].lower() == name.lower() else chess.BLACK

    def opponent_of(self, name):
        return self.names[not self.color_of(name)]

    def title(self):
        return f"{{Game {self.number} ({self.names[chess.WHITE]} vs. {self.names[chess.BLACK]})"

    def style12(self, name):
        board = self.board
        ranks = ["".join(str(board.piece_at(chess.square(file, rank)) or "-") for file in range(8)) for rank in range(7, -1, -1)]
        rights = [int(bool(board.castling_rights & chess.BB_SQUARES[square])) for square in (chess.H1, chess.A1, chess.H8, chess.A8)]
        last = board.peek() if board.move_stack else None
        double = chess.square_file(last.to_square) if last and board.piece_type_at(last.to_square) == chess.PAWN \
            and abs(last.to_square - last.from_square) == 16 else -1
        relation = 1 if board.turn == self.color_of(name) else -1
        fields = [*ranks, "W" if board.turn else "B", double, *rights, board.halfmove_clock, self.number,
                  self.names[chess.WHITE], self.names[chess.BLACK], relation, self.minutes, self.increment, 39, 39,
                  60 * self.minutes, 60 * self.minutes, board.fullmove_number,
                  f"P/{last.uci()[:2]}-{last.uci()[2:]}" if last else "none", "(0:00)", self.sans[-1] if last else "none",
                  0 if self.color_of(name) else 1]
        return "<12> " + " ".join(map(str, fields))


class Server:
    """Everybody who is here, what they have offered each other, and the games that run or wait."""

    def __init__(self, accounts):
        self.accounts = {name.lower(): (name, password) for name, password in accounts}
        self.players, self.challenges, self.waiting = {}, {}, []
        self.numbers = iter(range(1, 1000))

    # --- The door ---

    async def visit(self, reader, writer):
        player = None
        try:
            player = await self.log_in(reader, writer)
            while player and (line := await reader.readline()):
                text = line.decode("latin-1").strip()
                writer.write((text + "\r\n").encode())
                self.obey(player, text)
        except ConnectionError:
            pass
        finally:
            if player and self.players.get(player.name.lower()) is player:
                self.leave(player)
            writer.close()

    async def log_in(self, reader, writer):
        async def ask(question):
            writer.write(question.encode())
            return (await reader.readline()).decode("latin-1").strip()

        name = await ask("Another chess server\r\n\r\nlogin: ")
        known = self.accounts.get(name.lower())
        if known:
            password = await ask(f'\r\n"{known[0]}" is a registered name.  If it is yours, type the password.\r\n\r\npassword: ')
            if password != known[1]:
                writer.write(b"\r\n**** Invalid password! ****\r\n")
                return None
            name = known[0]
        else:
            if name.lower() == "guest":
                name = "Guest" + "".join(random.choices(string.ascii_uppercase, k=4))
            await ask(f'\r\nPress return to enter the server as "{name}":')
        player = Player(name, not known, writer)
        self.players[name.lower()] = player
        player.say("_" * 40 + "\nWelcome.")
        return player

    def leave(self, player):
        del self.players[player.name.lower()]
        self.challenges = {pair: terms for pair, terms in self.challenges.items() if player.name.lower() not in pair}
        game = player.game
        if not game:
            return
        kept = len(game.sans) >= 2 and not player.guest
        if kept:
            self.waiting.append(game)
        self.tell(game, "Your opponent has lost contact or quit.")
        self.end(game, "adjourned" if kept else "aborted", "*")

    # --- Commands ---

    def obey(self, player, text):
        word, _, rest = text.partition(" ")
        command = getattr(self, "do_" + word.lower(), None)
        if not text:
            player.say("")
        elif command:
            command(player, rest.strip())
        elif player.game and (move := self.read_move(player.game.board, text)):
            self.play(player, move)
        elif text[0] in "abcdefgh" and text[1:2].isdigit():
            player.say("Illegal move." if player.game else "You are not playing a game.")
        else:
            player.say(f"Unknown command: {word}")

    def do_set(self, player, _):
        player.say("Done.")

    def do_quit(self, player, _):
        player.writer.close()

    def do_drop(self, player, name):
        self.players[name.lower()].writer.transport.abort()
        player.say(f"{name} dropped.")

    def do_tell(self, player, rest):
        name, _, text = rest.partition(" ")
        if other := self.players.get(name.lower()):
            other.say(f"{player.name} tells you: {text}")
            player.say(f"(told {other.name})")
        else:
            player.say(f"{name} is not logged in.")

    def do_say(self, player, text):
        if other := player.game and self.players.get(player.game.opponent_of(player.name).lower()):
            other.say(f"{player.name} says: {text}")
        player.say("(told)")

    def do_stored(self, player, _):
        games = [game for game in self.waiting if game.has(player.name.lower())]
        rows = [f"   {game.names[chess.WHITE].lower()} vs. {game.names[chess.BLACK].lower()}" for game in games]
        player.say("\n".join([f"Stored games for {player.name}:", *rows, f"{len(games)} stored games found."]))

    def do_match(self, player, rest):
        name, *words = rest.split()
        other = self.players.get(name.lower())
        if not other or other is player or other.game or player.game:
            return player.say(f"{name} is not logged in." if not other else f"{other.name} is playing a game.")
        numbers = [int(word) for word in words if word.isdigit()] + [2, 12]
        color = next((word for word in words if word in ("white", "black")), None)
        stored = next((game for game in self.waiting if game.has(player.name.lower(), other.name.lower())), None)
        terms = (numbers[0], numbers[1], color, stored)
        mirrored = self.challenges.get((other.name.lower(), player.name.lower()))
        if mirrored and mirrored[3] is stored and stored:
            return self.begin(other, player, mirrored)
        self.challenges[player.name.lower(), other.name.lower()] = terms
        shown = f"{player.name} (----) {f'[{color}] ' if color else ''}{other.name} (----) unrated blitz {numbers[0]} {numbers[1]}"
        adjourned = " (adjourned)" if stored else ""
        player.say(f"Issuing: {shown}{adjourned}.")
        other.say(f'Challenge: {shown}{adjourned}.\nYou can "accept" or "decline", or propose different parameters.')

    def do_accept(self, player, name):
        offers = [by for by, to in self.challenges if to == player.name.lower() and name.lower() in ("", by)]
        if not offers:
            return player.say("You have no offers to accept.")
        self.begin(self.players[offers[0]], player, self.challenges[offers[0], player.name.lower()])

    def do_decline(self, player, name):
        other = self.players.get(name.lower())
        if self.challenges.pop((name.lower(), player.name.lower()), None) and other:
            other.say(f"{player.name} declines the match offer.")
        elif player.game:
            player.game.offers = {}
            if other:
                other.say(f"{player.name} declines draw request.")
        player.say(f"You decline what {name} offers.")

    def do_withdraw(self, player, name):
        self.challenges.pop((player.name.lower(), name.lower()), None)
        player.say("Withdrawn.")

    def do_refresh(self, player, _):
        player.say(player.game.style12(player.name) if player.game else "You are neither playing, observing nor examining a game.")

    def do_moves(self, player, _):
        game = player.game
        if not game:
            return player.say("You are not playing a game.")
        cells = [f"{san:<8}(0:00)     " for san in game.sans]
        rows = [f"{number // 2 + 1:3}.  {''.join(cells[number:number + 2])}" for number in range(0, len(cells), 2)]
        head = f"{game.names[chess.WHITE]} (----) vs. {game.names[chess.BLACK]} (----) --- Fri Nov 20, 21:11 UTC 2026"
        player.say("\n".join([head, "Unrated blitz match", *rows, "      {Still in progress} *"]))

    # --- Games ---

    def begin(self, first, second, terms):
        minutes, increment, color, game = terms
        verb = "Continuing"
        if game:
            self.waiting.remove(game)
        else:
            verb = "Creating"
            white, black = (second, first) if color == "black" else (first, second)
            game = Game(next(self.numbers), white.name, black.name, minutes, increment)
        self.challenges = {pair: terms for pair, terms in self.challenges.items()
                           if not {first.name.lower(), second.name.lower()} & set(pair)}
        for player in (first, second):
            player.game = game
            player.say(f"{game.title()} {verb} unrated blitz match.}}\n{game.style12(player.name)}")

    def read_move(self, board, text):
        """`e2e4`, `e7e8=Q`, `o-o` and short algebraic notation."""
        for read in (lambda: chess.Move.from_uci(text.replace("=", "").lower()),
                     lambda: board.parse_san(text.replace("o", "O"))):
            try:
                if (move := read()) in board.legal_moves:
                    return move
            except ValueError:
                pass
        return None

    def play(self, player, move):
        game = player.game
        if game.board.turn != game.color_of(player.name):
            return player.say("It is not your move.")
        # Older servers write a mate with the sign of a check.
        game.sans.append(game.board.san(move).replace("#", "+"))
        game.board.push(move)
        game.offers = {}
        self.show(game)
        if game.board.is_checkmate():
            loser = game.names[game.board.turn]
            self.end(game, f"{loser} checkmated", "1-0" if game.board.turn == chess.BLACK else "0-1")
        elif game.board.is_stalemate():
            self.end(game, "Game drawn by stalemate", "1/2-1/2")

    def tell(self, game, text):
        for name in game.names.values():
            player = self.players.get(name.lower())
            if player and player.game is game:
                player.say(text)

    def show(self, game):
        for name in game.names.values():
            if player := self.players.get(name.lower()):
                player.say(game.style12(name))

    def end(self, game, words, result):
        self.tell(game, f"{game.title()} {words}}} {result}\n\nNo ratings adjustment done.")
        self.show(game)
        for name in game.names.values():
            if (player := self.players.get(name.lower())) and player.game is game:
                player.game = None

    def do_resign(self, player, _):
        if game := player.game:
            self.end(game, f"{player.name} resigns", "0-1" if game.color_of(player.name) else "1-0")
        else:
            player.say("You are not playing a game.")

    def agree(self, player, what, asked, done):
        """What one asks for and the other asks for as well is agreed on."""
        game = player.game
        if not game:
            return player.say("You are not playing a game.")
        other = game.opponent_of(player.name)
        if game.offers.get(what) == other:
            game.offers = {}
            return done(game)
        game.offers[what] = player.name
        player.say(f"{what.capitalize()} request sent.")
        self.players[other.lower()].say(f"{player.name} {asked}")

    def do_draw(self, player, _):
        self.agree(player, "draw", "offers you a draw.",
                   lambda game: self.end(game, "Game drawn by mutual agreement", "1/2-1/2"))

    def do_abort(self, player, _):
        self.agree(player, "abort", 'would like to abort the game; type "abort" to accept.',
                   lambda game: self.end(game, "Game aborted by mutual agreement", "*"))

    def do_takeback(self, player, count):
        plies = int(count or 1)

        def take_back(game):
            for _ in range(plies):
                game.board.pop()
                game.sans.pop()
            self.show(game)

        self.agree(player, "takeback", f"would like to take back {plies} half move(s).", take_back)


async def main():
    server = Server(account.split(":") for account in sys.argv[1:])
    listener = await asyncio.start_server(server.visit, "127.0.0.1", 0)
    print(listener.sockets[0].getsockname()[1], flush=True)
    await listener.serve_forever()


asyncio.run(main())
