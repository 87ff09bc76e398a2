// A board of eight by eight squares: pieces, orientation, and moves by dragging, clicking twice, or keys. The board of each game adds:
//   where(square)        returns column and row of a square from the upper left, with White below
//   named(column, row)   returns the square there, or null
//   select(square)       selects the piece there, if it can move; null deselects. Returns the selected square or null.
//   go(to)               moves the selected piece, if that is legal; returns true (or a promise) if it was
//   mark(), labels()     draw marks on squares, and the names of the squares

import { announce, h, svg } from "./dom.js";

const DRAG_FROM = 5;

const NAMES = { K: "king", Q: "queen", R: "rook", B: "bishop", N: "knight", P: "pawn", man: "man", dama: "king" };

/** The name of a kind of piece such as wP. */
const pieceName = (kind) => `${kind[0] === "w" ? "white" : "black"} ${NAMES[kind.slice(1)]}`;

export class SquareBoard {
  /** A `playable` board accepts moves; `cursor` is the first square of the keyboard's cursor. */
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

  /** Puts the side of a colour below. */
  orient(color) {
    if (color === this.orientation) return;
    this.orientation = color;
    for (const [square, { element }] of this.pieces) this.put(element, square);
    this.labels();
    this.mark();
  }

  /** Places pieces, Map(square → kind). Remaining and moved pieces keep their elements. */
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
      // The nearest piece of its kind without a square has moved here.
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

  /** Returns column and row of a square on the screen, from the upper left. */
  seen(square) {
    const [column, row] = this.where(square);
    return this.orientation === "white" ? [column, row] : [7 - column, 7 - row];
  }

  /** Returns the square at a place on the screen, or null. */
  seenAt(column, row) {
    if (column < 0 || column > 7 || row < 0 || row > 7) return null;
    return this.orientation === "white" ? this.named(column, row) : this.named(7 - column, 7 - row);
  }

  put(element, square) {
    element.style.transform = this.shift(square);
  }

  /** Returns the CSS transform from the upper left corner to a square. */
  shift(square) {
    const [column, row] = this.seen(square);
    return `translate(${column * 100}%, ${row * 100}%)`;
  }

  square(kind, square) {
    const element = h(`div.square.${kind}`);
    this.put(element, square);
    return element;
  }

  /** Replaces the marks; after keys it adds the cursor. */
  showMarks(marks) {
    if (this.withKeys) marks.push(this.square("cursor", this.cursor));
    this.layers.squares.replaceChildren(...marks);
  }

  showLabels(...texts) {
    this.layers.labels?.remove();
    this.layers.labels = svg("svg", { class: "labels", viewBox: "0 0 8 8", "aria-hidden": "true" }, ...texts);
    this.element.prepend(this.layers.labels);
  }

  /** Puts a held piece back on its square. */
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
      const moved = await this.go(this.at(event));
      if (!moved) this.putBack();
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

  /** Returns the square beside another, on the screen. */
  beside(square, dx, dy) {
    const [column, row] = this.seen(square);
    return this.seenAt(column + dx, row + dy) ?? square;
  }

  async key(event) {
    const step = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] }[event.key];
    const acts = event.key === "Enter" || event.key === " ";
    if (event.ctrlKey || event.metaKey || event.altKey || !(step || acts || event.key === "Escape")) return;
    // Before the first await: the browser scrolls when this function returns.
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
