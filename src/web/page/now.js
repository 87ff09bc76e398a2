// Now: accounts, running games as live boards, challenges, and the log.

import { Board } from "./board.js";
import { commands, gameCommands } from "./control.js";
import { CouncilTable, EvaluationBar, ExpectedLine, MoveList, PlayerLine, VoteLegend, VotePanel, fromWhite, moveColors, proposalArrows, ticking } from "./council.js";
import { announce, h, notice, say, show } from "./dom.js";
import { live, me, post } from "./server.js";
import { moment, moveNumber, other, player, ratingChange, words } from "./words.js";

export function open(page) {
  if (!me.daemon) return void page.append(withoutDaemon());
  const accounts = h("div.accounts");
  const operator = me.operates ? commands() : null;
  const empty = h("p.empty", {}, "No game is running. The bot waits for challenges. ", h("a", { href: "#/play" }, "Play against the council"));
  const focus = new FocusGame();
  const others = h("div.boards", { "aria-label": "Other games" });
  const challenges = h("ul.rows", { tabIndex: 0, "aria-label": "Challenges" });
  const log = h("ul.rows.log", { tabIndex: 0, "aria-label": "Log" });
  const small = new Map();
  let chosen = null;

  const lists = h("div.columns", {}, h("section.card", {}, h("h2", {}, "Challenges"), challenges), h("section.card", {}, h("h2", {}, "Log"), log));
  page.append(h("h1.vh", {}, "Now"), accounts, operator?.element ?? "", empty, focus.element, others, lists);

  const running = (key) => live.games[key]?.head && !live.games[key].over;

  /** The games by start time, those of accounts before those of the page. */
  function inOrder() {
    const place = (key) => `${live.games[key].head.server === "page" ? 1 : 0} ${live.games[key].head.since}`;
    const keys = Object.keys(live.games).filter((key) => live.games[key].head && live.games[key].board);
    return keys.sort((one, two) => (place(one) < place(two) ? -1 : 1));
  }

  /** Chooses the large board: the clicked game, or the same game until it is over and another runs. */
  function choose() {
    const keys = inOrder();
    if (chosen && keys.includes(chosen) && (running(chosen) || chosen === focus.pinned)) return;
    const ended = keys.includes(chosen) ? chosen : (keys.findLast((key) => live.games[key].head.server !== "page") ?? keys.at(-1));
    chosen = keys.find(running) ?? ended ?? null;
  }

  function showGames(changed) {
    choose();
    // The lists stay hidden until the games are known, so that the layout does not shift.
    show(lists, live.known);
    show(empty, live.known && !chosen);
    show(focus.element, chosen);
    if (chosen && (focus.key !== chosen || changed.has(chosen))) focus.show(chosen, live.games[chosen]);
    for (const [key, card] of small) {
      if (key === chosen || !live.games[key]) card.element.remove(), small.delete(key);
    }
    for (const key of inOrder()) {
      if (key === chosen) continue;
      const known = small.get(key);
      if (known && !changed.has(key)) continue;
      const card = known ?? new SmallGame(() => {
        focus.pinned = chosen = key;
        showGames(new Set([key]));
        focus.element.scrollIntoView({ block: "nearest", behavior: "smooth" });
      });
      card.show(live.games[key]);
      if (!known) small.set(key, card);
    }
    const inPlace = inOrder().filter((key) => small.has(key)).map((key) => small.get(key).element);
    inPlace.forEach((element, index) => others.children[index] === element || others.insertBefore(element, others.children[index] ?? null));
    show(others, small.size);
  }

  const stop = live.listen((change) => {
    if (change.accounts) accounts.replaceChildren(...Object.entries(live.accounts).map(accountCard));
    if (change.games.size || change.all) showGames(change.games);
    if (change.challenges) challenges.replaceChildren(...rowsOf(live.challenges, challengeRow, "No challenges yet."));
    if (change.log) log.replaceChildren(...rowsOf(live.log, logRow, "No events yet."));
  });
  const still = ticking(() => {
    // Without a connection the clocks are unknown.
    if (live.state === "lost") return;
    focus.tick();
    for (const card of small.values()) card.tick();
  });
  return () => (stop(), still(), operator?.stop());
}

const rowsOf = (rows, make, none) => (rows.length ? rows.slice(-60).reverse().map(make) : [h("li.quiet", {}, none)]);

/** The most common speeds first. */
const SPEEDS = ["bullet", "blitz", "rapid", "classical", "standard", "lightning", "ultraBullet"];
const place = (speed) => (SPEEDS.includes(speed) ? SPEEDS.indexOf(speed) : SPEEDS.length);

/** An account as a strip; a normal state is not written out. */
function accountCard([name, row]) {
  const known = [...row.ratings].sort(([a], [b]) => place(a) - place(b));
  const ratings = known.slice(0, 4).map(([speed, points]) => h("span.rating", {}, `${speed} `, h("b", {}, points)));
  const isAside = row.state === "connected" && row.mode !== "playing";
  const [state, since] = isAside ? [row.mode, row.mode_since] : [row.state, row.since];
  const stands = `${state}${since ? ` since ${moment(since)}` : ""}`;
  const times = row.reconnections ? `, ${row.reconnections} reconnection${row.reconnections > 1 ? "s" : ""}` : "";
  return h("article.account", { data: { state }, title: `${stands}${times}` },
    h("span.signal", { role: "img", "aria-label": state }),
    h("div", {}, h("b", {}, [row.title, row.name ?? name].filter(Boolean).join(" ")), h("span.quiet", {}, ` on ${name}${state === "connected" ? "" : ` · ${stands}`}`),
      row.reason && !isOver(row.until) &&
        h("div.reason", {}, row.until ? `${row.reason} until ${moment(row.until)}` : row.reason)),
    h("div.ratings", {}, ...ratings));
}

/** True if a time has passed; false without a time. */
function isOver(until) {
  return until && Date.parse(until) <= Date.now();
}

function challengeRow(row) {
  return h("li", { data: { outcome: row.outcome } },
    h("time", { dateTime: row.at }, moment(row.at)),
    h("span", {}, h("b", {}, player(row.opponent)), ` ${row.terms} `, h("span.tag", {}, row.outcome),
      row.outcome === "accepted" ? "" : h("span.quiet", {}, ` ${row.why}`)));
}

function logRow(row) {
  return h("li", { data: { level: row.level, kind: row.kind } }, h("time", { dateTime: row.at }, moment(row.at)), h("span", {}, row.text));
}

/** The card for tabs without a daemon. */
export function withoutDaemon() {
  return h("section.card.narrow.nodaemon", {}, h("h1", {}, "No daemon is connected"),
    h("p", {}, "This page shows the games of a journal with all their votes. Running games and games against the council need a daemon."),
    h("a.button.main", { href: "#/games" }, "Games in the journal"));
}

/** Returns the last decision of a game, unless its move was taken back. */
export function lastVote(game) {
  const { decision, board } = game;
  if (!decision || !board) return null;
  return decision.ply === board.ply || board.moves[decision.ply] === decision.san ? decision : null;
}

/** Returns the current proposals, or the votes of the last election, with their colours. */
export function tableOf(game) {
  const votes = [...game.votes.values()];
  const decision = lastVote(game);
  const decided = decision && decision.ply === game.votesPly && (!votes.length || votes.some((vote) => vote.weight !== null));
  const thinking = !game.over && game.board.turn === game.head.our_color && game.votesPly === game.board.ply && !decided;
  const elected = decided ? decision.uci : null;
  const caption = thinking ? "Thinking …" : decision?.rule ? `Elected by ${decision.chosen_by}: ${decision.rule}.` : "";
  const past = colorsOf(game, decision);
  const colors = decided ? past : moveColors(votes, null, { before: game.colors, beside: past });
  if (thinking) [game.colors, game.colorsPly] = [colors, game.votesPly];
  return { votes, thinking, elected, colors, past, caption };
}

/** Returns the colours of the last vote's moves, the same as during the search. They stay until the next decision. */
function colorsOf(game, decision) {
  if (game.colored !== decision) {
    const before = game.colorsPly === decision?.ply ? game.colors : undefined;
    [game.colored, game.past, game.colors] = [decision, moveColors(decision?.groups ?? [], decision?.uci, { before }), undefined];
  }
  return game.past ?? new Map();
}

/** Returns the arrows on the board: the current proposals and the last elected move; in the opponent's time the last vote. */
export function arrowsOf(game, { votes, thinking, elected, colors }) {
  if (thinking) {
    const last = lastVote(game);
    return [...(last ? [{ uci: last.uci, kind: "elected past", share: 0.5 }] : []), ...proposalArrows(votes, null, colors)];
  }
  return elected && !game.over ? proposalArrows(votes.filter(({ second }) => !second), elected, colors) : [];
}

/** Returns the newest value of the game from the bot's side: the median of the current proposals, or the last decision's. */
function valueOf(game, { votes, thinking }) {
  const sorted = thinking ? votes.filter(({ depth }) => depth > 0).sort((a, b) => a.cp - b.cp) : [];
  const middle = sorted[Math.floor(sorted.length / 2)];
  if (middle) return [middle.cp, middle.score];
  const decision = lastVote(game);
  return decision?.score ? [decision.cp, decision.score] : [null, ""];
}

class FocusGame {
  constructor() {
    this.board = new Board();
    this.bar = new EvaluationBar();
    this.players = { white: new PlayerLine("white"), black: new PlayerLine("black") };
    this.vote = new VotePanel();
    this.table = new CouncilTable();
    this.legend = new VoteLegend();
    this.moves = new MoveList();
    this.title = h("p.terms");
    this.over = h("p.over", { role: "status" });
    this.next = h("div.row.next");
    this.fault = h("p.fault");
    this.budget = h("p.quiet.budget");
    this.details = h("details.meanings", {}, h("summary", {}, "Time and network lag"), this.budget);
    this.expected = new ExpectedLine(() => this.showBoard());
    this.chat = h("ul.chat");
    this.buttons = h("div.row");
    this.flip = h("button.plain", { type: "button", onclick: () => this.turn() }, "Flip");
    this.flipped = false;
    this.upper = h("div");
    this.lower = h("div");
    this.element = h("section.focus", { "aria-label": "The game" },
      h("div.stand", {}, this.upper, h("div.boardrow", {}, this.bar.element, this.board.element), this.lower),
      h("div.side", {}, h("div.row.spread", {}, this.title, this.flip), this.over, this.next, this.fault, this.vote.element, this.expected.element, this.table.element,
        this.legend.element, this.details, this.moves.element, this.buttons, this.chat));
  }

  turn() {
    this.flipped = !this.flipped;
    if (this.game) this.show(this.key, this.game);
  }

  show(key, game) {
    const { head, board } = game;
    if (key === this.key && board.ply > this.ply && board.turn === head.our_color) announce(`${head[other(head.our_color)].name} plays ${board.moves.at(-1)}`);
    if (key !== this.key) {
      this.expected.leave();
      this.key = key;
      this.flipped = false;
      this.height = 0;
      this.buttons.replaceChildren(...(me.operates ? gameCommands(head) : []));
    }
    [this.game, this.ply] = [game, board.ply];
    const below = this.flipped ? other(head.our_color) : head.our_color;
    this.board.orient(below);
    this.upper.replaceChildren(this.players[other(below)].element);
    this.lower.replaceChildren(this.players[below].element);
    for (const color of ["white", "black"]) this.players[color].show(head[color], { ours: head.our_color === color });
    const table = tableOf(game);
    const vote = lastVote(game);
    this.vote.show(vote && moveNumber(board, vote.ply), vote, table.past);
    this.keepHeight();
    this.expected.show(vote?.line ?? []);
    this.legend.show(vote?.chosen_by ?? "", vote?.rule ?? "");
    this.table.show({ electors: head.electors, ...table });
    show(this.table.element, table.votes.length || head.electors.length);
    this.showBoard();
    this.bar.show(...fromWhite(...valueOf(game, table), head.our_color), below);
    this.moves.show(board.moves, { black: startsBlack(board) });
    const rated = head.rated ? "rated" : "casual";
    const title = [head.server, head.time_control, head.speed, rated, head.variant === "standard" ? "" : head.variant].filter(Boolean).join(" · ");
    this.title.replaceChildren(title, ...(head.url ? [" · ", h("a", { href: safe(head.url), rel: "noreferrer noopener", target: "_blank" }, head.id)] : []));
    say(this.over, game.over && [game.over.result, game.over.words, ratingChange(game.over.rating_change)].filter(Boolean).join(" · "));
    show(this.over, game.over);
    if (Boolean(game.over) !== this.offers || key !== this.offersOf) this.offer(key, head, game.over);
    this.over.dataset.ours = game.over?.ours ?? "";
    say(this.fault, game.fault && `Problem: ${game.fault}`);
    show(this.fault, game.fault);
    const decision = vote;
    const time = decision && `${(decision.elapsed / 1000).toFixed(2)} s` + (decision.budget ? ` of ${(decision.budget[0] / 1000).toFixed(2)} s planned` : "");
    say(this.budget, decision && `last move ${time} · ${Math.round(decision.lag)} ms reserved for network lag`);
    show(this.details, decision);
    show(this.buttons, !game.over && me.operates);
    this.chat.replaceChildren(...(game.chat ?? []).slice(-8).map((line) => h("li", {}, h("b", {}, line.name), ` ${line.text}`)));
    show(this.chat, game.chat?.length);
    this.tick();
  }

  /** Shows the position of the game with its arrows, or the studied one. */
  showBoard() {
    const studied = this.expected.position;
    this.board.show(studied ?? this.game.board);
    this.board.arrows(studied ? [] : arrowsOf(this.game, tableOf(this.game)));
    this.element.classList.toggle("studying", Boolean(studied));
  }

  /** Keeps the panel of the vote from shrinking during a game, so that the parts below it do not move. */
  keepHeight() {
    const { element } = this.vote;
    element.style.minHeight = this.game.over ? "" : `${this.height}px`;
    this.height = Math.min(400, Math.max(this.height, element.offsetHeight));
  }

  /** Offers the next steps after a game. */
  offer(key, head, over) {
    [this.offers, this.offersOf] = [Boolean(over), key];
    show(this.next, over);
    const address = `#/games/${encodeURIComponent(head.server)}/${encodeURIComponent(head.id)}`;
    this.next.replaceChildren(...(over ? [
      me.demo && me.plays && head.server !== "page" && h("button.main", { type: "button", onclick: (event) => anotherGame(event.target) }, "Another game"),
      h("a.button", { href: address }, "Replay with votes"), me.demo && h("a.button", { href: `${address}?report` }, "Report"),
      me.plays && h("a.button", { href: "#/play" }, "Play against the council")].filter(Boolean) : []));
  }

  tick() {
    if (!this.game) return;
    for (const line of Object.values(this.players)) line.tick(this.game.board, this.game.over);
  }
}

/** Asks the demo for another game. */
async function anotherGame(button) {
  button.disabled = true;
  try {
    await post("/api/demo/game");
  } catch (error) {
    button.disabled = false;
    notice(words(error), "bad");
  }
}

/** True if Black made the first move of the game. */
const startsBlack = (board) => (board.turn === "black") !== (board.ply % 2 === 1);

/** Allows only web addresses as links. */
const safe = (url) => (/^https?:\/\//i.test(url) ? url : "#/");

class SmallGame {
  constructor(choose) {
    this.board = new Board();
    this.bar = new EvaluationBar();
    this.players = [new PlayerLine("white"), new PlayerLine("black")];
    this.over = h("p.over");
    this.element = h("article.small", {});
    this.choose = h("button.choose", { type: "button", onclick: choose, "aria-label": "Show this game" });
  }

  show(game) {
    const { head, board } = game;
    if (!this.game) {
      const [upper, lower] = head.our_color === "white" ? [this.players[1], this.players[0]] : this.players;
      this.element.append(upper.element, h("div.boardrow", {}, this.bar.element, this.board.element), lower.element, this.over, this.choose);
      this.board.orient(head.our_color);
      this.players[0].show({ name: head.white.name, rating: head.white.rating }, { ours: head.our_color === "white" });
      this.players[1].show({ name: head.black.name, rating: head.black.rating }, { ours: head.our_color === "black" });
    }
    this.game = game;
    this.board.show(board);
    const table = tableOf(game);
    const [cp] = fromWhite(...valueOf(game, table), head.our_color);
    this.bar.show(cp, "", head.our_color);
    say(this.over, game.over && `${game.over.result} · ${game.over.words}`);
    show(this.over, game.over);
    this.over.dataset.ours = game.over?.ours ?? "";
    this.tick();
  }

  tick() {
    for (const line of this.players) line.tick(this.game.board, this.game.over);
  }
}
