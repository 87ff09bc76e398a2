// The council's table: who proposes what, and how the vote went; and the parts around a board that show a game's state.

import { h, say, show } from "./dom.js";
import { chance, clock, player, short, weight } from "./words.js";

/** The rows of a game's votes, those of the second phase last, with the decision where there is one. */
export class CouncilTable {
  constructor() {
    this.rows = new Map();
    this.body = h("tbody");
    this.caption = h("p.summary");
    this.table = h("table.council", {},
      h("thead", {}, h("tr", {}, ...[["Elector", ""], ["Move", ""], ["Score", "num"], ["Depth", "num"], ["Nodes", "num"],
        ["Weight", "num wide"], ["Machine", "wide"]].map(([text, kind]) => h("th", { className: kind, scope: "col" }, text)))),
      this.body);
    this.element = h("section.votes", { "aria-label": "The council's table" }, h("div.scroll", {}, this.table), this.caption);
  }

  /** `electors` of the roster, `votes` in order, `elected` in UCI notation or null, `caption` below. */
  show({ electors = [], votes, elected = null, caption = "" }) {
    const wanted = [...electors.filter(({ name }) => !votes.some((vote) => vote.elector === name && !vote.second))
      .map((elector) => ({ key: `false ${elector.name}`, elector: elector.name, knowledge: elector.knowledge })),
    ...votes.map((vote) => ({ ...vote, key: `${vote.second} ${vote.elector}`,
      knowledge: electors.find(({ name }) => name === vote.elector)?.knowledge ?? vote.knowledge }))];
    const order = new Map(electors.map(({ name }, index) => [`false ${name}`, index]));
    wanted.sort((a, b) => (order.get(a.key) ?? 999) - (order.get(b.key) ?? 999));
    const keys = new Set(wanted.map(({ key }) => key));
    for (const [key, row] of this.rows) if (!keys.has(key)) row.element.remove(), this.rows.delete(key);
    wanted.forEach((vote, index) => {
      const row = this.row(vote.key);
      if (this.body.children[index] !== row.element) this.body.insertBefore(row.element, this.body.children[index] ?? null);
      row.fill(vote, elected);
    });
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
    this.cells = ["", "num score", "num", "num", "num wide", "wide"].map((kind) => h("td", { className: kind }));
    this.element = h("tr", {}, h("th", { scope: "row" }, this.name, this.knows), ...this.cells);
  }

  fill(vote, elected) {
    say(this.name, vote.elector);
    say(this.knows, vote.knowledge && vote.knowledge !== vote.elector && !/^(mbxkcpar)?n?$/.test(vote.knowledge) ? vote.knowledge : "");
    const texts = [vote.san, vote.score, vote.depth, vote.nodes && short(vote.nodes), weight(vote.weight), vote.machine ?? (vote.san ? "here" : "")];
    this.cells.forEach((cell, index) => say(cell, texts[index]));
    this.cells[1].dataset.sign = vote.cp > 0 ? "up" : vote.cp < 0 ? "down" : "";
    this.element.classList.toggle("elected", Boolean(elected && vote.uci === elected));
    this.element.classList.toggle("silent", !vote.san);
    this.element.classList.toggle("second", Boolean(vote.second));
  }
}

/** Arrows for what is proposed: as wide as the share of the electors that propose it. */
export function proposalArrows(votes, elected) {
  const shares = new Map();
  for (const { uci } of votes) if (uci) shares.set(uci, (shares.get(uci) ?? 0) + 1);
  const most = [...shares].sort((a, b) => a[1] - b[1]).slice(-6);
  return most.map(([uci, count]) => ({ uci, share: count / votes.length, kind: uci === elected ? "elected" : "proposed" }));
}

/** An evaluation as a bar, White's share in white. */
export class EvaluationBar {
  constructor() {
    this.fill = h("div.fill");
    this.text = h("span.value");
    this.element = h("div.evaluation", { role: "img" }, this.fill, this.text);
  }

  /** `cp` from White's side, `text` as it is written. */
  show(cp, text, orientation = "white") {
    this.element.dataset.below = orientation;
    const share = cp === null || cp === undefined ? 0.5 : chance(cp);
    this.fill.style.height = `${(share * 100).toFixed(1)}%`;
    // There is room for three letters.
    say(this.text, (text ?? "").replace(/^([+-]\d+\.\d)\d$/, "$1").replace(/^[+-](0\.0)$/, "$1"));
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

  /** `board` with clocks in ms, `at` when it came, by performance.now(). */
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

/** Clocks tick together, ten times a second while somebody looks. */
export function ticking(tick) {
  const timer = setInterval(() => document.hidden || tick(), 100);
  tick();
  return () => clearInterval(timer);
}

/** The score for a side as it is from White's: "+0.34" and 34 turn round for Black. */
export function fromWhite(cp, text, ourColor) {
  if (cp === null || cp === undefined) return [null, ""];
  if (ourColor === "white") return [cp, text];
  const turned = text.startsWith("#") ? (text.startsWith("#-") ? `#${text.slice(2)}` : `#-${text.slice(1)}`)
    : text.startsWith("+") ? `-${text.slice(1)}` : `+${text.slice(1)}`;
  return [-cp, turned];
}

/** The moves in two columns; `onGo(ply)` makes them places to go to. */
export class MoveList {
  constructor(onGo = null) {
    this.onGo = onGo;
    this.element = h("ol.moves", { "aria-label": "Moves" });
    this.shown = [];
    this.items = [];
  }

  /** `moves` in words, `first` who begins and with which number, `here` how many are on the board. */
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
      // Only the list scrolls, never the page.
      if (item) this.element.scrollTop = item.offsetTop - this.element.clientHeight / 2;
      else this.element.scrollTop = 0;
      this.here = here;
    }
    this.items.forEach((item, index) => (item.dataset.mark = marks[index] ?? ""));
  }
}
