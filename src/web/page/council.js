// The vote in words and as a table, and the parts around a board.

import { announce, h, say, show } from "./dom.js";
import { chance, clock, pawns, player, short, weight } from "./words.js";

const LETTERS = { m: "material", b: "placement", x: "space and mobility", k: "king safety", c: "centre", p: "pawn structure", a: "attack",
  r: "piece relations (pairs of bishops and knights)", n: "a neural net for the whole position" };

/** Returns the meaning of the letters of a short form; empty for other names. */
export function lettersInWords(text) {
  const letters = text?.match(/^[mbxkcparn]+$/) && new Set(text).size === text.length ? [...text] : [];
  return letters.map((letter) => `${letter} ${LETTERS[letter]}`).join(", ");
}

const COLUMNS = [
  ["Elector", "", "Engines have all knowledge of chess, specialists a part of it; advisers have no vote"],
  ["Move", "", "The proposed move"],
  ["Score", "num", "Value of the position after the move, in pawns, from the bot's side"],
  ["Depth", "num", "Depth of the last complete search, in half-moves"],
  ["Nodes", "num wide", "Positions searched"],
  ["Weight", "num wide", "Weight of the vote under the rule of election; comparable within one vote only"],
  ["Machine", "wide machine", "The machine of the search"],
];

/** A table of the votes, those of the second phase last, with the elected move marked. */
export class CouncilTable {
  constructor() {
    this.rows = new Map();
    this.body = h("tbody");
    this.caption = h("p.summary");
    this.table = h("table.council", {},
      h("thead", {}, h("tr", {}, ...COLUMNS.map(([text, kind, title]) => h("th", { className: kind, scope: "col", title }, text)))), this.body);
    this.element = h("section.votes", { "aria-label": "The electors" }, h("div.scroll", { tabIndex: 0, role: "group" }, this.table), this.caption);
  }

  /** `electors` of the roster, `votes` in order, `elected` in UCI notation or null, `colors` of moves, `caption` below. */
  show({ electors = [], votes, elected = null, colors = new Map(), caption = "" }) {
    const known = (name) => electors.find((elector) => elector.name === name);
    const waiting = electors.filter(({ name }) => !votes.some((vote) => vote.elector === name && !vote.second));
    const wanted = [...waiting.map(({ name, words, knowledge }) => ({ key: `false ${name}`, elector: name, words, short: name, knowledge })),
      ...votes.map((vote) => ({ ...vote, key: `${vote.second} ${vote.elector}`, knowledge: known(vote.elector)?.knowledge ?? vote.knowledge }))];
    const order = new Map(electors.map(({ name }, index) => [`false ${name}`, index]));
    wanted.sort((a, b) => (order.get(a.key) ?? 999) - (order.get(b.key) ?? 999));
    const keys = new Set(wanted.map(({ key }) => key));
    for (const [key, row] of this.rows) if (!keys.has(key)) row.element.remove(), this.rows.delete(key);
    wanted.forEach((vote, index) => {
      const row = this.row(vote.key);
      if (this.body.children[index] !== row.element) this.body.insertBefore(row.element, this.body.children[index] ?? null);
      row.fill(vote, elected, colors.get(vote.uci));
    });
    this.table.classList.toggle("here", wanted.every(({ machine }) => !machine));
    say(this.caption, caption);
    show(this.caption, caption);
  }

  row(key) {
    if (!this.rows.has(key)) this.rows.set(key, new VoteRow());
    return this.rows.get(key);
  }
}

class VoteRow {
  constructor() {
    this.name = h("span.elector");
    this.knows = h("span.knows");
    this.adviser = h("span.tag", { title: "Searches during the first third of the move; has no vote", hidden: true }, "adviser");
    this.cells = ["", "num score", "num", "num wide", "num wide", "wide machine"].map((kind) => h("td", { className: kind }));
    this.element = h("tr", {}, h("th", { scope: "row" }, this.name, " ", this.knows, " ", this.adviser), ...this.cells);
  }

  fill(vote, elected, color) {
    const name = vote.words ?? vote.elector;
    say(this.name, name);
    say(this.knows, vote.short && vote.short !== name ? vote.short : "");
    this.knows.title = lettersInWords(vote.knowledge ?? vote.short);
    show(this.adviser, vote.adviser);
    const texts = [vote.san, minus(vote.score ?? ""), vote.depth, vote.nodes && short(vote.nodes), weight(vote.weight), vote.machine ?? (vote.san ? "here" : "")];
    this.cells.forEach((cell, index) => say(cell, texts[index]));
    this.cells[0].dataset.move = vote.san ? (color ?? "") : "";
    this.cells[1].dataset.sign = vote.cp > 0 ? "up" : vote.cp < 0 ? "down" : "";
    this.element.classList.toggle("elected", Boolean(elected && vote.uci === elected));
    this.element.classList.toggle("silent", !vote.san);
    this.element.classList.toggle("second", Boolean(vote.second));
  }
}

/** The last vote in words: a sentence, and the proposed moves with their supporters and the reasons against them. It stays until the next
    decision. */
export class VotePanel {
  constructor() {
    this.title = h("h2.played");
    this.agreement = h("span.tag", { title: "Agreement of all electors and advisers" });
    this.sentence = h("p.sentence", { role: "status" });
    this.groups = h("ul.proposals");
    this.against = h("p.against");
    this.element = h("section.vote", { "aria-label": "The last vote", hidden: true }, h("div.row", {}, this.title, this.agreement), this.sentence, this.groups, this.against);
  }

  /** `number` of the move such as "12…", the vote: {san, score, sentence, agreement, groups, reasons}, and the colours of its moves.
      Null empties the panel. */
  show(number, vote, colors) {
    show(this.element, vote);
    if (!vote || this.vote === vote) return;
    this.vote = vote;
    say(this.title, [`${number} ${vote.san}`, minus(vote.score ?? "")].filter(Boolean).join("  "));
    const [agree, searched] = vote.agreement;
    say(this.agreement, agree === searched ? `all ${searched} agree` : `${agree} of ${searched} agree`);
    show(this.agreement, searched > 1);
    say(this.sentence, capital(vote.sentence) || "No vote was needed");
    const split = vote.groups.length > 1;
    const reasons = new Map(vote.reasons.map((reason) => [reason.uci, reason]));
    this.groups.replaceChildren(...(split ? vote.groups : []).map((group) =>
      h("li", { data: { elected: group.elected } }, h("b.move", { data: { move: colors.get(group.uci) ?? "" } }, group.mv),
        h("div", {}, h("span.by", {}, ...supporters(group, vote.groups)), reasonOf(reasons.get(group.uci))))));
    show(this.groups, split);
    say(this.against, `Evaluation by the eight heuristics at the end of each line, compared with ${vote.san}: in pawns, + is better for the bot.`);
    show(this.against, vote.reasons.length);
  }
}

/** A sentence of the program with a capital letter, and with minus signs before its figures. */
export const capital = (text) => (text ? text[0].toUpperCase() + minus(text.slice(1)) : "");
const minus = (text) => text.replace(/-(?=\d+\.\d)/g, "−");

/** The largest differences of a move from the elected one; the tooltip has all of them. */
function reasonOf(reason) {
  if (!reason) return null;
  const all = reason.differences.map(({ heuristic, cp }) => `${heuristic} ${pawns(cp)}`).join(", ");
  return h("span.differs", { title: all }, minus(reason.text));
}

/** The supporters of a move, equal names counted; with their short form if others of the same name support another move. */
function supporters({ by }, groups) {
  const counted = new Map();
  for (const elector of by) {
    const name = elector.adviser && elector.role !== "prover" ? `${elector.name} (adviser)` : elector.name;
    const divided = groups.filter((group) => group.by.some((other) => other.name === elector.name)).length > 1;
    const key = divided && elector.short !== elector.name ? `${name} ${elector.short}` : name;
    counted.set(key, { ...elector, label: name, divided, count: (counted.get(key)?.count ?? 0) + 1 });
  }
  return [...counted.values()].map(({ label, short, adviser, divided, count }) =>
    h("span.name", { title: adviser ? "An adviser without a vote" : (lettersInWords(short) || short) }, count > 1 ? `${count} × ${label}` : label,
      divided && short !== label ? [" ", h("span.knows", {}, short)] : ""));
}

const COLORS = ["m1", "m2", "m3", "m4", "m5", "m6", "m7", "m8"];

/** Gives each proposed move a colour: its colour `before`, or the next free one; the elected move has a colour of its own. Colours of
    moves shown `beside` these, such as those of the last vote, are used last. */
export function moveColors(proposals, elected = null, { before = new Map(), beside = new Map() } = {}) {
  const colors = new Map(elected ? [[elected, "elected"]] : []);
  const moves = [...new Set(proposals.map(({ uci }) => uci))].filter((uci) => uci && uci !== elected);
  for (const uci of moves) {
    const known = before.get(uci) ?? beside.get(uci);
    if (COLORS.includes(known)) colors.set(uci, known);
  }
  for (const uci of moves.filter((move) => !colors.has(move))) {
    const [here, there] = [colors, beside].map((known) => new Set(known.values()));
    const free = COLORS.filter((color) => !here.has(color));
    colors.set(uci, free.find((color) => !there.has(color)) ?? free[0] ?? COLORS.at(-1));
  }
  return colors;
}

/** Arrows for the proposed moves, in their colours; the width is the share of the electors. */
export function proposalArrows(votes, elected, colors = moveColors(votes, elected)) {
  const shares = new Map();
  for (const { uci } of votes) if (uci) shares.set(uci, (shares.get(uci) ?? 0) + 1);
  const most = [...shares].sort((a, b) => a[1] - b[1]).slice(-6);
  return most.map(([uci, count]) => ({ uci, share: count / votes.length, kind: uci === elected ? "elected" : `proposed ${colors.get(uci)}` }));
}

/** The terms of a vote explained, folded. The last entry is the rule of election. */
export class VoteLegend {
  constructor() {
    this.rule = h("dt");
    this.meaning = h("dd");
    const entry = (term, text) => [h("dt", {}, term), h("dd", {}, text)];
    this.element = h("details.meanings", {}, h("summary", {}, "What do these terms mean?"), h("dl", {},
      ...entry("engine", "a copy of the built-in engine with all its knowledge of chess"),
      ...entry("specialist", "the same engine with a part of the knowledge, such as king and centre"),
      ...entry("adviser", "a specialist without a vote: it searches during the first third of the move, and the engines search its moves first"),
      ...entry("letters", `the short form of a specialist's knowledge: ${Object.entries(LETTERS).map(([letter, words]) => `${letter} ${words}`).join(", ")}; mbkc is king and centre, with material and placement`),
      ...entry("score", "in pawns, from the bot's side; #3 is mate in three"),
      ...entry("centre +0.3", "at the end of this move's expected line the bot's centre is 0.3 pawns better than at the end of the elected move's line"),
      ...entry("depth, nodes", "half-moves searched ahead, positions searched"),
      ...entry("weight", "the weight of a vote under the rule of election"),
      this.rule, this.meaning));
  }

  show(name, words) {
    for (const part of [this.rule, this.meaning]) show(part, words);
    say(this.rule, name);
    say(this.meaning, words && `the rule of election: ${words}`);
  }
}

/** The expected line. A click shows the position after a move: `onShow(position)` is called with it, and with null to show the game again. */
export class ExpectedLine {
  constructor(onShow) {
    this.onShow = onShow;
    this.line = [];
    this.at = null;
    this.moves = h("span.sans");
    this.back = h("button", { type: "button", hidden: true, onclick: () => this.leave() }, "Back to the game (Esc)");
    this.element = h("div.expected", { role: "group", "aria-label": "Expected line", hidden: true, onkeydown: (event) => this.key(event) },
      h("span.quiet", {}, "Expected:"), this.back, this.moves);
    this.onEscape = (event) => event.key === "Escape" && !event.target.closest("input, select, textarea, dialog") && this.leave();
  }

  /** The studied position, {fen, last}, or null. */
  get position() {
    const step = this.shown?.[this.at];
    return step ? { fen: step.fen, last: step.uci } : null;
  }

  /** Shows a `line` of {san, uci, fen}, unless another is being studied. */
  show(line) {
    this.line = line;
    if (this.at !== null || this.shown === line) return;
    this.shown = line;
    // An empty line keeps its height, so that the parts below it do not move.
    if (line.length > 1) show(this.element, true);
    this.element.classList.toggle("none", line.length < 2);
    this.buttons = line.map(({ san, fen }, index) => {
      const [, turn, , , , full] = fen.split(" ");
      const number = turn === "b" ? `${full}. ` : index ? "" : `${full - 1}… `;
      return h("button.plain", { type: "button", title: "Show this position", onclick: () => this.go(index) }, `${number}${san}`);
    });
    this.moves.replaceChildren(...this.buttons);
  }

  go(at) {
    if (this.at === null) document.addEventListener("keydown", this.onEscape);
    this.at = Math.max(0, Math.min(this.shown.length - 1, at));
    this.mark();
    this.buttons[this.at].focus();
    announce(`Expected line, ${this.shown[this.at].san}`);
    this.onShow(this.position);
  }

  /** Shows the game again. */
  leave() {
    if (this.at === null) return;
    document.removeEventListener("keydown", this.onEscape);
    this.at = null;
    this.mark();
    if (this.element.contains(document.activeElement)) document.activeElement.blur();
    this.show(this.line);
    this.onShow(null);
  }

  mark() {
    this.buttons.forEach((button, index) => (index === this.at ? button.setAttribute("aria-current", "true") : button.removeAttribute("aria-current")));
    show(this.back, this.at !== null);
  }

  key(event) {
    const to = { ArrowLeft: this.at - 1, ArrowRight: this.at + 1 }[event.key];
    if (this.at === null || to === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    this.go(to);
  }
}

/** The evaluation as a bar, with White's share in white. */
export class EvaluationBar {
  constructor() {
    this.fill = h("div.fill");
    this.text = h("span.value");
    this.element = h("div.evaluation", { role: "img" }, this.fill, this.text);
  }

  /** Shows an evaluation: `cp` from White's side, and its `text`. */
  show(cp, text, orientation = "white") {
    this.element.dataset.below = orientation;
    const share = cp === null || cp === undefined ? 0.5 : chance(cp);
    this.fill.style.height = `${(share * 100).toFixed(1)}%`;
    say(this.text, minus(text ?? ""));
    this.element.dataset.side = share >= 0.5 ? "white" : "black";
    this.element.setAttribute("aria-label", text ? `Evaluation ${text} for White` : "No evaluation yet");
  }
}

/** A player with their clock. */
export class PlayerLine {
  constructor(color) {
    this.color = color;
    this.name = h("span.name");
    this.time = h("span.clock");
    this.dot = h("span.dot");
    this.element = h("div.player", { data: { color } }, this.dot, this.name, this.time);
  }

  show(row, { ours = false } = {}) {
    say(this.name, player(row));
    this.element.classList.toggle("ours", ours);
  }

  /** Updates the clock. `board` has the clocks in ms, and `at`, the time of its arrival by performance.now(). */
  tick(board, over) {
    const index = this.color === "white" ? 0 : 1;
    const turn = board.turn === this.color && !over;
    let left = board.clocks?.[index];
    if (left !== undefined && left !== null && turn && board.running) left -= (board.elapsed ?? 0) + performance.now() - board.at;
    say(this.time, left === undefined || left === null ? "" : clock(left));
    this.element.classList.toggle("turn", turn);
    this.element.classList.toggle("short", left !== undefined && left !== null && left < 10_000);
  }
}

/** Calls `tick` ten times a second while the page is visible; returns a stop function. */
export function ticking(tick) {
  const timer = setInterval(() => document.hidden || tick(), 100);
  tick();
  return () => clearInterval(timer);
}

/** Turns a score from the bot's side to White's. */
export function fromWhite(cp, text, ourColor) {
  if (cp === null || cp === undefined) return [null, ""];
  if (ourColor === "white") return [cp, text];
  const turned = text.startsWith("#") ? (text.startsWith("#-") ? `#${text.slice(2)}` : `#-${text.slice(1)}`)
    : text.startsWith("+") ? `-${text.slice(1)}` : `+${text.slice(1)}`;
  return [-cp, turned];
}

/** The list of moves; with `onGo(ply)` they are buttons. */
export class MoveList {
  constructor(onGo = null) {
    this.onGo = onGo;
    this.element = h("ol.moves", { "aria-label": "Moves" });
    this.shown = [];
    this.items = [];
  }

  /** Shows `moves` in SAN. `black` is true if Black begins, `number` is the first number, `here` the current ply. */
  show(moves, { black = false, number = 1, here = moves.length, marks = [] } = {}) {
    const same = this.shown.findIndex((text, index) => text !== moves[index]);
    const keep = same < 0 ? Math.min(this.shown.length, moves.length) : same;
    for (const item of this.items.splice(keep)) item.remove();
    this.shown.splice(keep);
    for (let ply = keep; ply < moves.length; ply++) {
      const place = ply + (black ? 1 : 0);
      const words = place % 2 === 0 ? `${number + place / 2}. ` : ply === 0 ? `${number}… ` : "";
      const text = h("span.san", {}, moves[ply]);
      const item = h("li", { data: { ply } }, words && h("span.number", {}, words),
        this.onGo ? h("button", { type: "button", onclick: () => this.onGo(ply + 1) }, text) : text);
      this.items.push(item);
      this.shown.push(moves[ply]);
      this.element.append(item);
    }
    if (this.here !== here || keep < moves.length) {
      this.items.forEach((item, index) => item.classList.toggle("here", index + 1 === here));
      const item = this.items[here - 1];
      // Scroll the list only, never the page.
      if (item) this.element.scrollTop = item.offsetTop - this.element.clientHeight / 2;
      else this.element.scrollTop = 0;
      this.here = here;
    }
    this.items.forEach((item, index) => (item.dataset.mark = marks[index] ?? ""));
  }
}
