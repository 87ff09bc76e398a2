// A chess board. It knows where pieces stand and which moves it was told are legal; rules it knows none.

import { h, svg } from "./dom.js";

const FILES = "abcdefgh";
const DRAG_FROM = 5;

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

const distance = (a, b) => Math.abs(a.charCodeAt(0) - b.charCodeAt(0)) + Math.abs(a.charCodeAt(1) - b.charCodeAt(1));

/** The two squares of a move in UCI notation; a drop has one. */
export const squares = (uci) => (uci.includes("@") ? [uci.slice(2, 4), uci.slice(2, 4)] : [uci.slice(0, 2), uci.slice(2, 4)]);

export class Board {
  /** `onMove(uci)` makes it a board to play on. */
  constructor({ onMove = null, label = "Board" } = {}) {
    this.onMove = onMove;
    this.orientation = "white";
    this.pieces = new Map();
    this.legal = [];
    this.selected = null;
    this.cursor = "e2";
    this.layers = {
      squares: h("div.squares", { "aria-hidden": "true" }),
      pieces: h("div.pieces", { "aria-hidden": "true" }),
      arrows: svg("svg", { class: "arrows", viewBox: "0 0 8 8", "aria-hidden": "true" }),
    };
    this.element = h("div.board", { role: onMove ? "application" : "img", "aria-label": label }, ...Object.values(this.layers));
    this.labels();
    if (onMove) this.listen();
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

  /** Whose side is below. */
  orient(color) {
    if (color === this.orientation) return;
    this.orientation = color;
    for (const [square, { element }] of this.pieces) this.put(element, square);
    this.labels();
    this.mark();
    if (this.drawn) this.arrows(this.drawn);
  }

  /** The moves that may be made now: [{uci, to}]. */
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
        if (piece.kind === kind && (!from || distance(other, square) < distance(from, square))) from = other;
      }
      const piece = from ? free.get(from) : { kind, element: h(`div.piece.${kind}`) };
      free.delete(from);
      if (!from) this.layers.pieces.append(piece.element);
      this.put(piece.element, square);
      next.set(square, piece);
    }
    for (const { element } of free.values()) element.remove();
    this.pieces = next;
  }

  /** Column and row of a square as it is seen, from the upper left. */
  seen(square) {
    const [file, rank] = [FILES.indexOf(square[0]), Number(square[1]) - 1];
    return this.orientation === "white" ? [file, 7 - rank] : [7 - file, rank];
  }

  put(element, square) {
    const [column, row] = this.seen(square);
    element.style.transform = `translate(${column * 100}%, ${row * 100}%)`;
  }

  square(kind, square) {
    const element = h(`div.square.${kind}`);
    this.put(element, square);
    return element;
  }

  mark() {
    const marks = [];
    if (this.last) marks.push(...new Set(squares(this.last)).values().map((square) => this.square("last", square)));
    if (this.check) {
      const king = this.turn === "white" ? "wK" : "bK";
      for (const [square, piece] of this.pieces) if (piece.kind === king) marks.push(this.square("check", square));
    }
    if (this.selected) {
      marks.push(this.square("selected", this.selected));
      for (const { to } of this.from(this.selected)) marks.push(this.square(this.pieces.has(to) ? "take" : "go", to));
    }
    if (this.withKeys) marks.push(this.square("cursor", this.cursor));
    this.layers.squares.replaceChildren(...marks);
  }

  labels() {
    this.layers.labels?.remove();
    const order = this.orientation === "white" ? (list) => list : (list) => [...list].reverse();
    const files = order([...FILES]).map((text, index) => svg("text", { x: index + 0.93, y: 7.94, class: `f${index % 2}` }, text));
    const ranks = order([..."87654321"]).map((text, index) => svg("text", { x: 0.06, y: index + 0.24, class: `r${index % 2}` }, text));
    this.layers.labels = svg("svg", { class: "labels", viewBox: "0 0 8 8", "aria-hidden": "true" }, ...files, ...ranks);
    this.element.prepend(this.layers.labels);
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

  // Playing: by dragging, by clicking twice, by keys.

  from(square) {
    return this.legal.filter(({ uci }) => !uci.includes("@") && uci.slice(0, 2) === square);
  }

  select(square) {
    this.selected = square && this.from(square).length ? square : null;
    this.mark();
    return this.selected;
  }

  /** Moves from the selected square, if that is legal, asking what a pawn becomes. */
  async try(to) {
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
        chooser.remove();
        this.element.focus();
        resolve(uci);
      };
      const buttons = ["q", "n", "r", "b"].flatMap((letter) => {
        const move = moves.find(({ uci }) => uci[4] === letter);
        const name = { q: "queen", n: "knight", r: "rook", b: "bishop" }[letter];
        return move ? [h("button", { type: "button", "aria-label": `Promote to ${name}`, onclick: () => close(move.uci) },
          h(`div.piece.${color}${letter.toUpperCase()}`))] : [];
      });
      const chooser = h("div.promotion", { role: "dialog", "aria-label": "What the pawn becomes",
        onkeydown: (event) => event.key === "Escape" && close(null),
        onpointerdown: (event) => event.stopPropagation() }, ...buttons);
      const [column, row] = this.seen(to);
      chooser.style.left = `${Math.min(column, 4) * 12.5}%`;
      chooser.style.top = `${row < 4 ? row * 12.5 : (row - 1) * 12.5}%`;
      this.element.append(chooser);
      buttons[0]?.focus();
    });
  }

  at(event) {
    const box = this.element.getBoundingClientRect();
    const [column, row] = [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height].map((part) => Math.floor(part * 8));
    if (column < 0 || column > 7 || row < 0 || row > 7) return null;
    return this.orientation === "white" ? `${FILES[column]}${8 - row}` : `${FILES[7 - column]}${row + 1}`;
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
    if (this.selected && square !== this.selected && (await this.try(square))) return;
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
      const moved = await this.try(this.at(event));
      if (!moved) this.select(null);
    } else if (held.again) {
      this.select(null);
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

  async key(event) {
    const step = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] }[event.key];
    if (step) {
      const [column, row] = this.seen(this.cursor).map((part, index) => Math.min(7, Math.max(0, part + step[index])));
      this.cursor = this.orientation === "white" ? `${FILES[column]}${8 - row}` : `${FILES[7 - column]}${row + 1}`;
    } else if (event.key === "Enter" || event.key === " ") {
      if (!(this.selected && (await this.try(this.cursor)))) this.select(this.cursor);
    } else if (event.key === "Escape") {
      this.select(null);
    } else {
      return;
    }
    event.preventDefault();
    this.withKeys = true;
    this.mark();
  }
}
