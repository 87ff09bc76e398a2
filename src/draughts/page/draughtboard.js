// A board for Italian draughts: the 32 dark squares, numbered row by row from White's far left. It shows pieces and legal moves from
// the program; it has no rules of draughts.

import { SquareBoard } from "./squares.js";
import { svg } from "./dom.js";

const STEP_MS = 240;

/** The pieces of a position such as W:W21,K30:B1 by square: Map(21 → "wman"). */
function piecesOf(fen) {
  const pieces = new Map();
  for (const side of fen.split(":").slice(1)) {
    for (const piece of side.slice(1).split(",").filter(Boolean)) {
      const king = piece.startsWith("K");
      pieces.set(Number(king ? piece.slice(1) : piece), `${side[0].toLowerCase()}${king ? "dama" : "man"}`);
    }
  }
  return pieces;
}

/** True if the page is visible and animations are wanted. */
const animated = () => !document.hidden && !matchMedia("(prefers-reduced-motion: reduce)").matches;

export class DraughtBoard extends SquareBoard {
  /** `onMove(text)` is called after a complete move, `onStep()` after each step of a capture and after its cancellation. */
  constructor({ onMove, onStep }) {
    super({ label: "Your board", playable: true, cursor: 22, kind: ".draughts" });
    Object.assign(this, { onMove, onStep, legal: [], path: [], last: null });
    // The path of the last move is drawn below the pieces.
    this.layers.pieces.before(this.layers.arrows);
  }

  /** Shows a position: {fen, turn, last}. */
  show({ fen, turn, last }) {
    Object.assign(this, { fen, last });
    this.path = [];
    this.selected = null;
    this.stopMoving();
    this.placeAll();
    this.mark();
    this.element.setAttribute("aria-label", `Board, ${turn} to move${last ? `, last move ${last.text}` : ""}`);
  }

  /** Sets the legal moves: [{text, squares, taken}]. */
  allow(legal) {
    this.legal = legal;
    this.select(null);
    this.element.classList.toggle("playable", legal.length > 0);
  }

  /** Animates a move step by step; returns false if another position was shown meanwhile. */
  async travel({ squares, taken }) {
    this.stopMoving();
    this.path = [];
    const piece = this.pieces.get(squares[0]);
    if (!piece || !animated()) return true;
    piece.element.classList.add("held");
    try {
      for (const [index, to] of squares.entries()) {
        if (index === 0) continue;
        const ends = [this.shift(squares[index - 1]), this.shift(to)].map((transform) => ({ transform }));
        this.moving = piece.element.animate(ends, { duration: STEP_MS, easing: "ease-in-out" });
        this.put(piece.element, to);
        await this.moving.finished;
        this.pieces.get(taken[index - 1])?.element.classList.add("taken");
      }
    } catch {
      return false;
    } finally {
      piece.element.classList.remove("held");
    }
    this.pieces.delete(squares[0]);
    this.pieces.set(squares.at(-1), piece);
    return true;
  }

  stopMoving() {
    this.moving?.cancel();
    this.moving = null;
  }

  where(square) {
    const row = Math.floor((square - 1) / 4);
    return [2 * ((square - 1) % 4) + (row % 2), row];
  }

  named(column, row) {
    return (column + row) % 2 === 0 ? 4 * row + Math.floor(column / 2) + 1 : null;
  }

  /** Only every second square of a row is used: a step goes to the next of them. */
  beside(square, dx, dy) {
    const [column, row] = this.seen(square);
    return this.seenAt(column + 2 * dx + (dy ? (row % 2 ? -1 : 1) : 0), row + dy) ?? square;
  }

  mark() {
    const marks = [...new Set(this.last?.squares ?? [])].map((square) => this.square("last", square));
    if (!this.selected && this.legal[0]?.taken.length) {
      marks.push(...[...new Set(this.legal.map(({ squares }) => squares[0]))].map((square) => this.square("must", square)));
    }
    if (this.selected) {
      marks.push(this.square("selected", this.selected));
      for (const to of this.landings()) marks.push(this.square("go", to));
    }
    this.showMarks(marks);
    const steps = (this.last?.squares ?? []).map((square) => this.seen(square).map((part) => part + 0.5).join(" "));
    this.layers.arrows.replaceChildren(...(this.last?.taken.length ? [svg("path", { class: "path", d: `M${steps.join("L")}` })] : []));
  }

  labels() {
    const numbers = Array.from({ length: 32 }, (_, index) => {
      const [column, row] = this.seen(index + 1);
      return svg("text", { x: column + 0.03, y: row + 0.17, class: "number" }, index + 1);
    });
    this.showLabels(...numbers);
  }

  /** Returns the legal moves beginning with `path`. */
  candidates(path = this.path) {
    return this.legal.filter(({ squares }) => path.every((square, index) => squares[index] === square));
  }

  /** Returns the possible squares of the next step. */
  landings() {
    return new Set(this.candidates().map(({ squares }) => squares[this.path.length]));
  }

  /** Selects a piece with a legal move. During a capture no other piece can be selected, and null cancels the capture. */
  select(square) {
    const capturing = this.path.length > 1;
    if (square && capturing) return square === this.selected ? square : null;
    const may = square && this.candidates([square]).length > 0;
    this.path = may ? [square] : [];
    this.selected = may ? square : null;
    if (capturing) this.cancelCapture();
    this.mark();
    return this.selected;
  }

  /** During a capture, a piece dropped elsewhere stays on its last square. */
  putBack() {
    if (this.path.length < 2) this.select(null);
  }

  /** Restores the position before an unfinished capture. */
  cancelCapture() {
    this.placeAll();
    this.onStep();
  }

  /** Places the pieces of the position. */
  placeAll() {
    this.place(piecesOf(this.fen));
    for (const { element } of this.pieces.values()) element.classList.remove("taken");
  }

  /** Moves one step. By the rules, taken pieces stay on the board until the move is over. */
  go(to) {
    if (!this.selected || !this.landings().has(to)) return false;
    const piece = this.pieces.get(this.selected);
    this.path.push(to);
    const [move] = this.candidates();
    this.pieces.delete(this.selected);
    this.pieces.set(to, piece);
    this.put(piece.element, to);
    this.pieces.get(move.taken[this.path.length - 2])?.element.classList.add("taken");
    this.selected = to;
    if (move.squares.length > this.path.length) {
      this.mark();
      this.onStep();
      return true;
    }
    this.path = [];
    this.selected = null;
    this.legal = [];
    this.mark();
    this.onMove(move.text);
    return true;
  }
}
