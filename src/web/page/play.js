// Play: a game against the council, by dragging, clicking, or typing moves.

import { Board } from "./board.js";
import { CouncilTable, EvaluationBar, MoveList, PlayerLine, VoteLegend, VotePanel, fromWhite, proposalArrows, ticking } from "./council.js";
import { announce, choice, colorChoice, field, h, notice, say, show } from "./dom.js";
import { kept } from "./kept.js";
import { get, live, me, post } from "./server.js";
import { arrowsOf, lastVote, tableOf, withoutDaemon } from "./now.js";
import { moveNumber, other, words } from "./words.js";

const CLOCKS = [["1+0", "1+0 bullet"], ["3+2", "3+2 blitz"], ["5+3", "5+3 blitz"], ["10+5", "10+5 rapid"], ["30+0", "30+0 classical"], ["unlimited", "no clock"]];
const STRENGTHS = [[0, "full strength"], [20000, "20,000 nodes per elector"], [2000, "2,000 nodes"], [200, "200 nodes"], [20, "20 nodes: a beginner"]];

/** The game of this browser. */
const known = kept("game");

/** The pause before a lost board is requested again. */
const RETRY_MS = 3000;

export async function open(page) {
  if (!me.daemon) return void page.append(withoutDaemon());
  if (!me.plays) {
    page.append(h("h1.vh", {}, "Play"), h("p.empty", {}, "Only the operator may play on this page. Log in to play."));
    return null;
  }
  const tab = { page, leave: null };
  const game = known.get();
  game ? showGame(tab, game) : await setup(tab);
  return () => tab.leave?.();
}

function enter(tab, leave, ...children) {
  tab.leave?.();
  tab.leave = leave;
  tab.page.replaceChildren(...children);
}

async function setup(tab) {
  const { groups } = await get("/api/play");
  const councils = new Map(groups.flatMap(({ about, councils }) => councils.map((council) => [`${council.field} ${council.value}`, { ...council, about }])));
  const council = h("select", {}, ...groups.map(({ name, councils }) =>
    h("optgroup", { label: name }, ...councils.map(({ field, value, label }) => h("option", { value: `${field} ${value}` }, label)))));
  const about = h("p.quiet.about");
  const letters = h("input", { value: "mbxkcpar mp ma", maxLength: 200, autocomplete: "off" });
  const lettersField = field("Electors, by letters of knowledge", letters);
  const clocks = choice([...CLOCKS, ["own", "custom …"]], { value: "5+3" });
  const own = h("input", { value: "2+1", autocomplete: "off" });
  const ownField = field("Minutes + seconds", own);
  const strength = choice(STRENGTHS);
  const fen = h("input", { autocomplete: "off", placeholder: "the starting position" });
  const start = h("button.main", { type: "submit" }, "Start game");
  const custom = () => council.value === "roster letters";
  const more = () => {
    show(lettersField, custom());
    show(ownField, clocks.value === "own");
    say(about, councils.get(council.value).about);
  };
  const form = h("form", { onchange: more, onsubmit: async (event) => {
    event.preventDefault();
    start.disabled = true;
    const { field: kind, value } = councils.get(council.value);
    const request = { color: new FormData(form).get("color"), nodes: Number(strength.value), fen: fen.value,
      time_control: clocks.value === "own" ? own.value : clocks.value, ...(kind ? { [kind]: custom() ? letters.value : value } : {}) };
    const inputs = { time_control: clocks.value === "own" ? own : clocks, fen, council: custom() ? letters : council };
    try {
      await begin(tab, request);
    } catch (error) {
      start.disabled = false;
      fault(inputs[error.field] ?? start, words(error));
    }
  } },
  h("h1", {}, "Play against the council"), h("p.quiet", {}, "The game runs on the practice server inside this program. You can see every vote on every move."),
  h("div.columns", {}, field("The council", council), about, lettersField, field("Clock", clocks), ownField, field("Strength", strength), field("Position (FEN)", fen)),
  colorChoice(), h("div.row.end", {}, start));
  more();
  enter(tab, null, h("section.card.setup", {}, form));
}

/** Starts a game and shows it. */
async function begin(tab, request) {
  showGame(tab, { ...(await post("/api/play", request)), request });
}

/** Shows an error beside its field until the form changes. */
function fault(input, text) {
  const form = input.form;
  form.querySelector(".error")?.remove();
  const error = h("p.error", { id: "fault", role: "alert" }, text);
  input.closest(".field, .row").after(error);
  input.setAttribute("aria-describedby", "fault");
  input.setAttribute("aria-invalid", "true");
  input.focus();
  form.addEventListener("input", () => (error.remove(), input.removeAttribute("aria-invalid"), input.removeAttribute("aria-describedby")), { once: true });
}

function showGame(tab, game) {
  known.set(game);
  const view = new PlayView(game, async (act) => {
    try {
      return await post(`/api/play/${encodeURIComponent(game.game)}`, { key: game.key, ...act });
    } catch (error) {
      notice(words(error), "bad");
      return null;
    }
  }, {
    another: () => (known.set(null), setup(tab)),
    rematch: () => begin(tab, { ...game.request, color: view.now.color === "white" ? "black" : "white" }).catch((error) => notice(words(error), "bad")),
  });
  enter(tab, view.watch(), view.element);
}

class PlayView {
  constructor(game, act, { another, rematch }) {
    Object.assign(this, { game, act, another });
    this.flipped = false;
    this.board = new Board({ onMove: (uci) => this.move(uci), label: "Your board" });
    this.bar = new EvaluationBar();
    this.players = { white: new PlayerLine("white"), black: new PlayerLine("black") };
    this.vote = new VotePanel();
    this.table = new CouncilTable();
    this.legend = new VoteLegend();
    this.moves = new MoveList();
    this.upper = h("div");
    this.lower = h("div");
    this.state = h("p.over", { role: "status", "aria-live": "polite" });
    this.offer = h("div.offer.row", {}, "The council offers a draw.", h("button.main", { type: "button", onclick: () => act({ act: "offer_draw" }) }, "Accept"),
      h("button", { type: "button", onclick: () => act({ act: "decline_draw" }) }, "Decline"));
    this.back = h("button", { type: "button", onclick: () => act({ act: "takeback" }) }, "Take back");
    this.drawn = h("button", { type: "button", onclick: () => act({ act: "offer_draw" }) }, "Offer a draw");
    this.resign = h("button.bad", { type: "button", onclick: () => confirm("Resign the game?") && act({ act: "resign" }) }, "Resign");
    this.hintButton = h("button", { type: "button", onclick: () => this.hint() }, "Hint");
    const address = `games/${game.overview.split("/").map(encodeURIComponent).join("/")}`;
    this.after = h("div.row", {}, game.request && h("button.main", { type: "button", onclick: rematch }, "Rematch"), h("button", { type: "button", onclick: another }, "Another game"),
      h("a.button", { href: `#/${address}` }, "Replay with votes"), h("a.button", { href: `/api/${address}/game.pgn`, download: "game.pgn" }, "PGN"));
    this.flipButton = h("button.plain", { type: "button", onclick: () => this.flip() }, "Flip");
    this.votesSeen = h("input", { type: "checkbox", checked: true, onchange: () => this.showVotes() });
    this.written = h("input", { "aria-label": "Write a move", placeholder: "Write a move: Nf3 or g1f3", autocomplete: "off", spellcheck: false });
    this.writing = h("form.row.say", { onsubmit: (event) => this.write(event) }, this.written, h("button", { type: "submit" }, "Move"));
    this.hinted = h("p.quiet");
    this.element = h("section.focus", { "aria-label": "Your game" },
      h("div.stand", {}, this.upper, h("div.boardrow", {}, this.bar.element, this.board.element), this.lower),
      h("div.side", {}, h("h1.vh", {}, "Your game against the council"), this.state, this.offer, h("div.row", {}, this.back, this.drawn, this.hintButton, this.resign, this.flipButton), this.after, this.hinted, this.writing,
        this.moves.element, h("label.check", {}, this.votesSeen, " Show how the council votes"), this.vote.element, this.table.element, this.legend.element));
    for (const part of [this.offer, this.after, this.hinted]) show(part, false);
  }

  /** Follows the board and the council; returns a stop function. */
  watch() {
    this.follow();
    const stop = live.listen((change) => change.games.has(this.game.overview) && this.showVotes());
    const still = ticking(() => this.now && Object.values(this.players).forEach((line) => line.tick(this.now, this.now.over)));
    return () => (this.source?.close(), (this.source = null), stop(), still());
  }

  /** Follows the board. */
  follow() {
    const address = `/api/play/${encodeURIComponent(this.game.game)}/events?key=${this.game.key}`;
    const source = (this.source = new EventSource(address));
    source.addEventListener("board", (event) => {
      this.show({ ...JSON.parse(event.data), at: performance.now(), elapsed: 0 });
      if (this.now.over) source.close();
    });
    source.addEventListener("error", () => {
      if (source.readyState === EventSource.CLOSED && !this.now?.over) this.lost(source, address);
    });
  }

  /** Handles an answer other than a stream: the program has no such game, or a proxy answered. Browsers do not retry after it. */
  async lost(source, address) {
    const asked = new AbortController();
    const status = await fetch(address, { signal: asked.signal }).then((response) => response.status, () => null);
    asked.abort();
    if (this.source !== source) return;
    if ([401, 403, 404].includes(status)) {
      notice("The program no longer has this game.", "bad");
      this.another();
    } else {
      setTimeout(() => this.source === source && this.follow(), RETRY_MS);
    }
  }

  flip() {
    this.flipped = !this.flipped;
    this.show(this.now);
    this.showVotes();
  }

  show(now) {
    const before = this.now;
    this.now = now;
    const declined = before?.draw_asked && !now.draw_asked && !now.over;
    if (declined) notice("The council declines the draw.");
    if (before && now.ply > before.ply && now.turn === now.color) announce(`The council plays ${now.moves.at(-1)}`);
    const council = { name: "Concilio", title: "BOT" };
    for (const color of ["white", "black"]) this.players[color].show(color === now.color ? { name: "You" } : council, { ours: color === now.color });
    this.below = this.flipped ? other(now.color) : now.color;
    this.board.orient(this.below);
    this.upper.replaceChildren(this.players[other(this.below)].element);
    this.lower.replaceChildren(this.players[this.below].element);
    this.board.show(now);
    this.board.allow(now.over ? [] : now.legal);
    this.board.arrows([]);
    this.moves.show(now.moves, { black: (now.turn === "black") !== (now.ply % 2 === 1), number: 1 });
    const mine = now.turn === now.color;
    say(this.state, now.over ?? (mine ? `Your move${now.check ? ": you are in check" : ""}` : "The council is thinking …"));
    show(this.offer, now.draw_offered && !now.over);
    for (const part of [this.back, this.drawn, this.hintButton, this.resign, this.writing]) show(part, !now.over);
    this.back.disabled = now.moves.length < (mine ? 2 : 1);
    this.drawn.disabled = now.draw_asked;
    this.hintButton.disabled = !mine;
    show(this.after, now.over);
    show(this.hinted, false);
    this.showVotes();
  }

  showVotes() {
    const game = live.games[this.game.overview];
    for (const part of [this.table, this.legend]) show(part.element, this.votesSeen.checked);
    if (!game?.head || !game.board || !this.now) return;
    const seen = this.votesSeen.checked;
    const table = tableOf(game);
    const vote = seen ? lastVote(game) : null;
    this.vote.show(vote && moveNumber(game.board, vote.ply), vote, table.past);
    this.legend.show(vote?.chosen_by ?? "", vote?.rule ?? "");
    this.table.show({ electors: game.head.electors, ...table });
    if (this.now.turn !== this.now.color) this.board.arrows(seen ? arrowsOf(game, table) : []);
    const value = vote?.score ? [vote.cp, vote.score] : [null, ""];
    this.bar.show(...fromWhite(...value, game.head.our_color), this.below);
  }

  async move(uci) {
    // The piece stays on its new square until the program answers.
    this.board.allow([]);
    if (!(await this.act({ act: "move", uci }))) this.show(this.now);
  }

  async write(event) {
    event.preventDefault();
    const plain = (text) => text.replace(/[+#=x\s]/g, "").replace(/0/g, "O");
    const text = this.written.value.trim();
    const legal = this.now?.legal ?? [];
    const found = legal.find(({ uci, san }) => uci === text.toLowerCase() || san === text || plain(san) === plain(text));
    if (!found) return notice(legal.length ? `${text} is not a legal move here` : "It is not your move", "bad");
    this.written.value = "";
    await this.move(found.uci);
  }

  async hint() {
    this.hintButton.disabled = true;
    const ply = this.now.ply;
    const answer = await this.act({ act: "hint" });
    if (!answer || this.now.ply !== ply) return;
    this.hintButton.disabled = false;
    const { hint } = answer;
    this.board.arrows([...proposalArrows(hint.votes, null).filter(({ uci }) => uci !== hint.uci), { uci: hint.uci, kind: "hint", share: 0.8 }]);
    say(this.hinted, `The council would play ${hint.san}${hint.score ? ` (${hint.score})` : ""}${hint.sentence && `: ${hint.sentence}`}`);
    show(this.hinted, true);
  }
}
