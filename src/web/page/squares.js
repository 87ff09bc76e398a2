// A board of eight by eight squares: where pieces stand, whose side is below, and how somebody takes one up and puts it down, by
// dragging, by clicking twice, or by keys. Which game is played the board of that game knows; it says what is left open here:
//   where(square)        column and row of a square from the upper left, with White below
//   named(column, row)   the square there, or null
//   select(square)       takes up what stands there, if it may go anywhere; null puts it down. Returns what is taken up.
//   go(to)               goes there with what is taken up, if that is allowed, and returns (perhaps later) whether it was
//   mark(), labels()     draw what is marked, and the names of the squares

import { announce, h, svg } from "./dom.js";

const DRAG_FROM = 5;

const NAMES = { K: "king", Q: "queen", R: "rook", B: "bishop", N: "knight", P: "pawn", man: "man", dama: "king" };

/** A kind of piece such as wP in words. */
const pieceName = (kind) => `${kind[0] === "w" ? "white" : "black"} ${NAMES[kind.slice(1)]}`;

export class SquareBoard {
  /** `playable` makes it a board to play on; `cursor` is where keys begin. */
  constructor({ label, playable, cursor, kind = "" }) {
    this.orientation = "white";
    this.pieces = new Map();
    this.selected = null;
    this.cursor = cursor;
    this.layers = {
      squares: h("div.squares", { "aria-hidden": "true" }),
      pieces: h("div.pieces", { "aria-hidden": "true" }),
      arrows: svg("svg", { class: "arrows", viewBox: "0 0 8 8", "aria-hidden": "true" }),
    };
    this.element = h(`div.board${kind}`, { role: playable ? "application" : "img", "aria-label": label }, ...Object.values(this.layers));
    this.labels();
    if (playable) this.listen();
  }

  /** Whose side is below. */
  orient(color) {
    if (color === this.orientation) return;
    this.orientation = color;
    for (const [square, { element }] of this.pieces) this.put(element, square);
    this.labels();
    this.mark();
  }

  /** Puts pieces where they are wanted, Map(square → kind); those that stay, or have moved, are the same elements. */
  place(wanted) {
    const free = new Map();
    for (const [square, piece] of this.pieces) {
      if (wanted.get(square) !== piece.kind) free.set(square, piece);
    }
    const next = new Map();
    for (const [square, kind] of wanted) {
      const stays = this.pieces.get(square);
      if (stays?.kind === kind) {
        next.set(square, stays);
        continue;
      }
      // The nearest of its kind that has to leave its square has moved here.
      let from = null;
      for (const [other, piece] of free) {
        if (piece.kind === kind && (from === null || this.distance(other, square) < this.distance(from, square))) from = other;
      }
      const piece = free.get(from) ?? { kind, element: h(`div.piece.${kind}`) };
      free.delete(from);
      if (from === null) this.layers.pieces.append(piece.element);
      this.put(piece.element, square);
      next.set(square, piece);
    }
    for (const { element } of free.values()) element.remove();
    this.pieces = next;
  }

  distance(one, other) {
    const [a, b] = [this.where(one), this.where(other)];
    return Math.abs(a[0] - b[0]) + Math.abs(a[1] - b[1]);
  }

  /** Column and row of a square as it is seen, from the upper left. */
  seen(square) {
    const [column, row] = this.where(square);
    return this.orientation === "white" ? [column, row] : [7 - column, 7 - row];
  }

  /** The square that is seen there, or null. */
  seenAt(column, row) {
    if (column < 0 || column > 7 || row < 0 || row > 7) return null;
    return this.orientation === "white" ? this.named(column, row) : this.named(7 - column, 7 - row);
  }

  put(element, square) {
    element.style.transform = this.shift(square);
  }

  /** How far from the upper left corner, in the words of a style. */
  shift(square) {
    const [column, row] = this.seen(square);
    return `translate(${column * 100}%, ${row * 100}%)`;
  }

  square(kind, square) {
    const element = h(`div.square.${kind}`);
    this.put(element, square);
    return element;
  }

  /** Shows these marks and no others, and the cursor where keys are used. */
  showMarks(marks) {
    if (this.withKeys) marks.push(this.square("cursor", this.cursor));
    this.layers.squares.replaceChildren(...marks);
  }

  showLabels(...texts) {
    this.layers.labels?.remove();
    this.layers.labels = svg("svg", { class: "labels", viewBox: "0 0 8 8", "aria-hidden": "true" }, ...texts);
    this.element.prepend(this.layers.labels);
  }

  /** Puts down what was taken up, where it stood. */
  putBack() {
    this.select(null);
  }

  at(event) {
    const box = this.element.getBoundingClientRect();
    const [column, row] = [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height].map((part) => Math.floor(part * 8));
    return this.seenAt(column, row);
  }

  listen() {
    this.element.tabIndex = 0;
    this.element.addEventListener("pointerdown", (event) => this.down(event));
    this.element.addEventListener("pointermove", (event) => this.drag(event));
    this.element.addEventListener("pointerup", (event) => this.drop(event));
    this.element.addEventListener("pointercancel", () => this.release());
    this.element.addEventListener("keydown", (event) => this.key(event));
    this.element.addEventListener("blur", () => this.showCursor(false));
  }

  async down(event) {
    if (event.button !== 0) return;
    this.showCursor(false);
    const square = this.at(event);
    if (this.selected && square !== this.selected && (await this.go(square))) return;
    const again = this.selected === square;
    if (!this.select(square)) return;
    event.preventDefault();
    this.element.focus({ preventScroll: true });
    this.element.setPointerCapture(event.pointerId);
    this.held = { square, again, x: event.clientX, y: event.clientY, moved: false, element: this.pieces.get(square)?.element };
  }

  drag(event) {
    const { held } = this;
    if (!held?.element) return;
    const [dx, dy] = [event.clientX - held.x, event.clientY - held.y];
    if (!held.moved && Math.hypot(dx, dy) < DRAG_FROM) return;
    held.moved = true;
    const side = this.element.getBoundingClientRect().width / 8;
    const [column, row] = this.seen(held.square);
    held.element.classList.add("held");
    held.element.style.transform = `translate(${column * side + dx}px, ${row * side + dy}px)`;
  }

  async drop(event) {
    const { held } = this;
    if (!held) return;
    this.release();
    if (held.moved) {
      const gone = await this.go(this.at(event));
      if (!gone) this.putBack();
    } else if (held.again) {
      this.putBack();
    }
  }

  release() {
    if (!this.held) return;
    this.held.element?.classList.remove("held");
    if (this.held.element && this.held.moved) this.put(this.held.element, this.held.square);
    this.held = null;
  }

  showCursor(yes) {
    if (this.withKeys === yes) return;
    this.withKeys = yes;
    this.mark();
  }

  /** The square beside another, as it is seen. */
  beside(square, dx, dy) {
    const [column, row] = this.seen(square);
    return this.seenAt(column + dx, row + dy) ?? square;
  }

  async key(event) {
    const step = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] }[event.key];
    const acts = event.key === "Enter" || event.key === " ";
    if (event.ctrlKey || event.metaKey || event.altKey || !(step || acts || event.key === "Escape")) return;
    // Before anything is waited for: a browser scrolls as soon as this returns.
    event.preventDefault();
    if (step) this.cursor = this.beside(this.cursor, ...step);
    else if (!acts) this.select(null);
    else if (!(this.selected && (await this.go(this.cursor)))) this.select(this.cursor);
    this.withKeys = true;
    this.mark();
    const piece = this.pieces.get(this.cursor);
    announce([this.cursor, piece && pieceName(piece.kind), this.selected === this.cursor && "selected"].filter(Boolean).join(", "));
  }
}
