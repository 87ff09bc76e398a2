// Draughts: a game by the Italian rules against one of several opponents. The browser stores the game; the program answers with the
// legal moves and the opponent's move.

import { CouncilTable, MoveList, PlayerLine } from "./council.js";
import { choice, colorChoice, field, h, notice, say, show } from "./dom.js";
import { DraughtBoard } from "./draughtboard.js";
import { kept } from "./kept.js";
import { withoutDaemon } from "./now.js";
import { get, me, post } from "./server.js";
import { other, words } from "./words.js";

/** The game of this browser: {game: {start, rules, moves}, color, opponent}. */
const known = kept("draughts");

export async function open(page) {
  if (!me.daemon) return void page.append(withoutDaemon());
  if (!me.plays) {
    page.append(h("h1.vh", {}, "Draughts"), h("p.empty", {}, "Only the operator may play on this page. Log in to play."));
    return null;
  }
  const view = new DraughtsView(await get("/api/draughts"));
  page.append(h("h1.vh", {}, "Italian draughts"), view.element);
  // Hidden until the first answer, so that the layout does not shift.
  show(view.element, false);
  view.resume(known.get()).finally(() => show(view.element, true));
  return () => view.leave();
}

/** The form of the opponent. Each move may have another one. */
class OpponentForm {
  constructor({ opponents, deepest, criteria, usual }, onChange) {
    this.usual = usual;
    this.published = new Map(opponents.map(({ name, published }) => [name, published]));
    this.deepest = deepest;
    this.name = choice(opponents.map(({ name, knows }) => [name, `${name}: ${knows}`]));
    this.depth = choice(Array.from({ length: deepest }, (_, index) => [index + 1, index ? `${index + 1} moves ahead` : "1 move ahead"]), { className: "own-width", "aria-label": "Search depth" });
    this.quiescence = h("input", { type: "checkbox" });
    this.second = h("input", { type: "checkbox" });
    this.criterion = choice(criteria.map((name) => [name, `elects by ${name}`]), { className: "own-width", "aria-label": "Rule of election" });
    const changed = () => (this.enable(), onChange());
    this.element = h("form", { "aria-label": "The opponent", onchange: changed, onsubmit: (event) => event.preventDefault() },
      field("Opponent, from the next move on", this.name),
      h("div.row", {}, this.depth, this.criterion, h("label.check", { title: "Searches two plies deeper where a capture is possible" }, this.quiescence, " quiescence"),
        h("label.check", { title: "Searches another two plies deeper" }, this.second, " second iteration")));
    this.value = usual;
  }

  get value() {
    return { name: this.name.value, depth: Number(this.depth.value), quiescence: this.quiescence.checked, second_iteration: this.second.checked, criterion: this.criterion.value };
  }

  set value(wanted) {
    const { name, depth, quiescence, second_iteration, criterion } = { ...this.usual, ...wanted };
    this.name.value = this.published.has(name) ? name : this.usual.name;
    this.depth.value = depth >= 1 && depth <= this.deepest ? depth : this.usual.depth;
    this.quiescence.checked = quiescence;
    this.second.checked = second_iteration;
    this.criterion.value = criterion;
    this.enable();
  }

  /** Shows the options of the opponent: the modern search always has quiescence, and only a council elects. */
  enable() {
    for (const input of [this.quiescence, this.second]) show(input.parentNode, this.published.get(this.name.value));
    show(this.criterion, this.name.value === "council");
    this.second.disabled = !this.quiescence.checked;
  }
}

/** The form of a new game. */
function newGameForm(begin) {
  const rules = choice([["official", "official: all four priorities, draws"], ["relaxed", "relaxed, of 2010: most pieces, no draws"]]);
  const start = h("input", { maxLength: 200, autocomplete: "off", placeholder: "the starting position, or W:W22,K30:B1,2" });
  return h("form", { onsubmit: (event) => {
    event.preventDefault();
    const color = new FormData(event.target).get("color") || (Math.random() < 0.5 ? "white" : "black");
    begin({ game: { start: start.value, rules: rules.value, moves: [] }, color });
  } },
  colorChoice(), field("Rules", rules), field("Position", start),
  h("div.row.end", {}, h("button.main", { type: "submit" }, "Start game")));
}

class DraughtsView {
  constructor(menu) {
    this.board = new DraughtBoard({ onMove: (text) => this.play(text), onStep: () => this.sayState() });
    this.players = { white: new PlayerLine("white"), black: new PlayerLine("black") };
    this.taken = { white: h("span.pieces-taken"), black: h("span.pieces-taken") };
    for (const color of ["white", "black"]) this.players[color].element.append(this.taken[color]);
    this.opponent = new OpponentForm(menu, () => this.changeOpponent());
    this.table = new CouncilTable();
    this.moves = new MoveList();
    this.upper = h("div");
    this.lower = h("div");
    this.state = h("p.over", { role: "status", "aria-live": "polite" });
    this.count = h("p.quiet");
    this.back = h("button", { type: "button", onclick: () => this.takeBack() }, "Take back");
    this.again = h("button.main", { type: "button", onclick: () => this.follow() }, "Ask again");
    this.written = h("input", { "aria-label": "Write a move", placeholder: "Write a move: 22-18 or 22x15", autocomplete: "off", spellcheck: false });
    this.anew = h("details", {}, h("summary", {}, "New game"), newGameForm((wanted) => this.begin(wanted)));
    this.element = h("section.focus", { "aria-label": "Your game of draughts" },
      h("div.stand", {}, this.upper, this.board.element, this.lower),
      h("div.side", {}, this.state,
        h("div.row", {}, this.back, h("button", { type: "button", onclick: () => this.turn() }, "Flip"),
          h("button", { type: "button", onclick: () => this.download() }, "PDN"), this.again),
        h("form.row.say", { onsubmit: (event) => this.write(event) }, this.written, h("button", { type: "submit" }, "Move")),
        this.moves.element, this.count, this.table.element, this.opponent.element, this.anew));
  }

  /** Resumes a stored game, if it is valid. */
  async resume(old) {
    if (old?.game) {
      this.opponent.value = old.opponent;
      await this.begin({ game: old.game, color: old.color === "black" ? "black" : "white" });
    }
    if (!this.now && !this.left) await this.begin({ game: { start: "", rules: "official", moves: [] }, color: "white" });
  }

  /** Starts a game, with an id for the journal. */
  begin({ game, color }) {
    const id = () => Date.now().toString(36) + Math.random().toString(36).slice(2, 10);
    game = { ...game, id: game.id ?? id() };
    this.choice = null;
    this.anew.open = false;
    return this.follow(game, color);
  }

  leave() {
    this.left = true;
    this.stop();
  }

  stop() {
    this.waiting?.abort();
    this.waiting = null;
  }

  /** Shows a game and requests the opponent's move. After an error the earlier game continues. */
  async follow(game = this.game, color = this.color) {
    this.stop();
    const ours = (this.waiting = new AbortController());
    try {
      const now = await post("/api/draughts", game, ours);
      if (color !== this.color) this.below = color;
      Object.assign(this, { game, color });
      this.show(now);
      if (!now.over && now.turn !== color) await this.answer(ours);
    } catch (error) {
      if (ours.signal.aborted) return;
      notice(words(error), "bad");
      this.waiting = null;
      if (this.now) this.show(this.now);
    }
  }

  async answer(ours) {
    const { choice, game } = await post("/api/draughts/answer", { game: this.game, opponent: this.opponent.value }, ours);
    this.showVotes(choice);
    if (!(await this.board.travel(game.last)) || ours.signal.aborted) return;
    this.waiting = null;
    this.show(game);
  }

  show(now) {
    show(this.element, true);
    this.now = now;
    this.game = { ...this.game, moves: now.moves };
    this.board.show(now);
    this.orient();
    this.board.allow(now.turn === this.color ? now.legal : []);
    this.moves.show(now.moves, { black: now.first === "black" });
    for (const side of ["white", "black"]) this.taken[side].replaceChildren(...takenPieces(now.taken[side], other(side)));
    const { count } = now;
    say(this.count, count ? `${count.moves} of ${count.draw} moves without a capture or a man's move` : "");
    show(this.count, count?.moves);
    if (now.over) this.anew.open = true;
    this.showVotes(this.choice);
    this.showOpponent();
  }

  showOpponent() {
    const { game, color, opponent } = this;
    known.set({ game, color, opponent: opponent.value });
    this.players[color].show({ name: "You" }, { ours: true });
    this.players[other(color)].show({ name: opponent.value.name });
    this.sayState();
  }

  /** True if the opponent is to move and no request is running. */
  stuck() {
    return !this.now.over && this.now.turn !== this.color && !this.waiting;
  }

  sayState() {
    const { now, board } = this;
    const must = now.legal[0]?.taken.length ? `: you must capture ${now.legal.map(({ text }) => text).join(" or ")}` : "";
    if (now.over) say(this.state, now.over);
    else if (this.stuck()) say(this.state, "The opponent has not answered");
    else if (now.turn !== this.color) say(this.state, `${this.opponent.value.name} is thinking …`);
    else if (board.path.length > 1) say(this.state, `${board.path.join("x")}x …: continue the capture`);
    else say(this.state, `Your move${must}`);
    this.back.disabled = board.path.length < 2 && this.movesBefore() < 0;
    show(this.again, this.stuck());
  }

  /** Shows the proposals for the opponent's last move. */
  showVotes(choice) {
    this.choice = choice;
    show(this.table.element, choice);
    if (!choice) return;
    const { votes } = choice;
    this.table.show({ votes, elected: choice.best, caption: choice.summary });
    this.table.table.classList.toggle("brief", votes.every(({ weight }) => weight === null));
  }

  orient() {
    this.board.orient(this.below);
    this.upper.replaceChildren(this.players[other(this.below)].element);
    this.lower.replaceChildren(this.players[this.below].element);
  }

  turn() {
    this.below = other(this.below);
    this.orient();
  }

  play(text) {
    return this.follow({ ...this.game, moves: [...this.game.moves, text] });
  }

  /** Returns the number of moves at the player's previous turn; -1 without one. */
  movesBefore() {
    const { first, moves } = this.now;
    const ours = (count) => (count % 2 === 0) === (first === this.color);
    let count = moves.length - 1;
    while (count >= 0 && !ours(count)) count--;
    return count;
  }

  /** Cancels an unfinished capture, or takes back the player's last move. */
  takeBack() {
    if (this.board.path.length > 1) return this.board.select(null);
    this.choice = null;
    return this.follow({ ...this.game, moves: this.now.moves.slice(0, Math.max(0, this.movesBefore())) });
  }

  /** Applies another opponent from the next move on; a running request is sent again. */
  changeOpponent() {
    if (!this.now) return;
    if (this.now.over || this.now.turn === this.color) this.showOpponent();
    else this.follow();
  }

  async write(event) {
    event.preventDefault();
    const text = this.written.value.trim().toLowerCase().replaceAll(":", "x");
    const legal = this.now?.turn === this.color ? this.now.legal : [];
    const ends = ({ squares, taken }) => `${squares[0]}${taken.length ? "x" : "-"}${squares.at(-1)}`;
    const found = legal.filter((move) => move.text === text || ends(move) === text);
    if (found.length > 1) return notice(`${text} is ambiguous: ${found.map((move) => move.text).join(", ")}`, "bad");
    if (!found.length) return notice(legal.length ? `${text} is not a legal move here: ${legal.map((move) => move.text).join(", ")}` : "It is not your move", "bad");
    this.written.value = "";
    this.board.show(this.now);
    this.board.allow([]);
    if (await this.board.travel(found[0])) await this.play(found[0].text);
  }

  async download() {
    const { name, depth } = this.opponent.value;
    const names = { [this.color]: "Guest", [other(this.color)]: `concilio (${name}, ${depth} moves ahead)` };
    try {
      const { pdn } = await post("/api/draughts/pdn", { game: this.game, ...names });
      const href = URL.createObjectURL(new Blob([pdn], { type: "text/plain" }));
      h("a", { href, download: "draughts.pdn" }).click();
      setTimeout(() => URL.revokeObjectURL(href), 60_000);
    } catch (error) {
      notice(words(error), "bad");
    }
  }
}

/** The taken pieces of a colour: a picture and a number for each kind. */
function takenPieces({ men, kings }, color) {
  const row = (count, kind) => (count ? [h(`span.piece.${color[0]}${kind}`, { role: "img", "aria-label": kind === "man" ? "men taken" : "kings taken" }), `×${count}`] : []);
  return [...row(men, "man"), ...row(kings, "dama")];
}
