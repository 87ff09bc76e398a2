// A chess board. It shows pieces and legal moves from the program; it has no rules of chess.

import { h, svg } from "./dom.js";
import { SquareBoard } from "./squares.js";

const FILES = "abcdefgh";

/** The pieces of a FEN by square: Map("e4" → "wP"). */
function piecesOf(fen) {
  const pieces = new Map();
  fen.split(" ")[0].split("[")[0].split("/").forEach((row, index) => {
    let file = 0;
    for (const letter of row) {
      if (letter >= "1" && letter <= "8") file += Number(letter);
      else if (/[kqrbnp]/i.test(letter)) {
        const color = letter === letter.toUpperCase() ? "w" : "b";
        pieces.set(`${FILES[file++]}${8 - index}`, `${color}${letter.toUpperCase()}`);
      }
    }
  });
  return pieces;
}

/** The two squares of a move in UCI notation; a drop has one. */
export const squares = (uci) => (uci.includes("@") ? [uci.slice(2, 4), uci.slice(2, 4)] : [uci.slice(0, 2), uci.slice(2, 4)]);

export class Board extends SquareBoard {
  /** With `onMove(uci)` the board accepts moves. */
  constructor({ onMove = null, label = "Board" } = {}) {
    super({ label, playable: Boolean(onMove), cursor: "e2" });
    this.onMove = onMove;
    this.legal = [];
    /** Cancels the choice of a promotion, while one is open. */
    this.chooseNone = null;
  }

  /** Shows a position: {fen, last, check, turn}. */
  show({ fen, last = null, check = false, turn = null }) {
    if (fen === this.fen && last === this.last && check === this.check) return;
    Object.assign(this, { fen, last, check, turn: turn ?? (fen.split(" ")[1] === "b" ? "black" : "white") });
    this.place(piecesOf(fen));
    this.mark();
    const move = last ? `, last move ${last}` : "";
    this.element.setAttribute("aria-label", `Board, ${this.turn} to move${move}`);
  }

  orient(color) {
    const turned = color !== this.orientation;
    super.orient(color);
    if (turned && this.drawn) this.arrows(this.drawn);
  }

  /** Sets the legal moves: [{uci, to}]. */
  allow(legal) {
    this.legal = legal;
    this.select(null);
    this.element.classList.toggle("playable", legal.length > 0);
  }

  /** Draws arrows: [{uci, kind, share}] with a share from 0 to 1 for their width. */
  arrows(list) {
    this.drawn = list;
    this.layers.arrows.replaceChildren(...list.map((arrow) => this.arrow(arrow)).filter(Boolean));
  }

  where(square) {
    return [FILES.indexOf(square[0]), 8 - Number(square[1])];
  }

  named(column, row) {
    return `${FILES[column]}${8 - row}`;
  }

  mark() {
    const marks = [];
    if (this.last) marks.push(...[...new Set(squares(this.last))].map((square) => this.square("last", square)));
    if (this.check) {
      const king = this.turn === "white" ? "wK" : "bK";
      for (const [square, piece] of this.pieces) if (piece.kind === king) marks.push(this.square("check", square));
    }
    if (this.selected) {
      marks.push(this.square("selected", this.selected));
      for (const { to } of this.from(this.selected)) marks.push(this.square(this.pieces.has(to) ? "take" : "go", to));
    }
    this.showMarks(marks);
  }

  labels() {
    const order = this.orientation === "white" ? (list) => list : (list) => [...list].reverse();
    const files = order([...FILES]).map((text, index) => svg("text", { x: index + 0.93, y: 7.94, class: `f${index % 2}` }, text));
    const ranks = order([..."87654321"]).map((text, index) => svg("text", { x: 0.06, y: index + 0.24, class: `r${index % 2}` }, text));
    this.showLabels(...files, ...ranks);
  }

  arrow({ uci, kind, share = 0.5 }) {
    const [from, to] = squares(uci).map((square) => this.seen(square).map((part) => part + 0.5));
    const [dx, dy] = [to[0] - from[0], to[1] - from[1]];
    const length = Math.hypot(dx, dy);
    if (!length) return null;
    const [ux, uy, width] = [dx / length, dy / length, 0.07 + 0.13 * share];
    const head = width * 2.6;
    const at = (along, aside) => `${(from[0] + ux * along - uy * aside).toFixed(3)} ${(from[1] + uy * along + ux * aside).toFixed(3)}`;
    const [begin, neck, tip] = [0.22, length - 0.12 - head, length - 0.08];
    const half = width / 2;
    const points = [at(begin, half), at(neck, half), at(neck, head / 2), at(tip, 0), at(neck, -head / 2), at(neck, -half), at(begin, -half)];
    return svg("path", { class: `arrow ${kind}`, d: `M${points.join("L")}Z` });
  }

  from(square) {
    return this.legal.filter(({ uci }) => !uci.includes("@") && uci.slice(0, 2) === square);
  }

  select(square) {
    this.chooseNone?.();
    this.selected = square && this.from(square).length ? square : null;
    this.mark();
    return this.selected;
  }

  /** Moves from the selected square if that is legal, after a choice of the promotion. Returns true if it was legal. */
  async go(to) {
    const moves = this.from(this.selected ?? "").filter((move) => move.to === to);
    if (!moves.length) return false;
    this.select(null);
    const uci = moves.length === 1 ? moves[0].uci : await this.promotion(moves, to);
    if (uci) this.onMove(uci);
    return true;
  }

  promotion(moves, to) {
    const color = this.turn === "white" ? "w" : "b";
    return new Promise((resolve) => {
      const close = (uci) => {
        this.chooseNone = null;
        chooser.remove();
        this.element.focus();
        resolve(uci);
      };
      this.chooseNone = () => close(null);
      const buttons = ["q", "n", "r", "b"].flatMap((letter) => {
        const move = moves.find(({ uci }) => uci[4] === letter);
        const name = { q: "queen", n: "knight", r: "rook", b: "bishop" }[letter];
        return move ? [h("button", { type: "button", "aria-label": `Promote to ${name}`, onclick: () => close(move.uci) },
          h(`div.piece.${color}${letter.toUpperCase()}`))] : [];
      });
      const chooser = h("div.promotion", { role: "dialog", "aria-label": "Promote to",
        // Keys on the buttons must not reach the board.
        onkeydown: (event) => (event.stopPropagation(), event.key === "Escape" && close(null)),
        onpointerdown: (event) => event.stopPropagation() }, ...buttons);
      const [column, row] = this.seen(to);
      chooser.style.left = `${Math.min(column, 4) * 12.5}%`;
      chooser.style.top = `${row < 4 ? row * 12.5 : (row - 1) * 12.5}%`;
      this.element.append(chooser);
      buttons[0]?.focus();
    });
  }
}
