// One game of the journal, move by move: board, votes, winning chances and times.

import { Board } from "./board.js";
import { bars, curves, legend } from "./chart.js";
import { CouncilTable, EvaluationBar, ExpectedLine, MoveList, PlayerLine, VoteLegend, VotePanel, capital, fromWhite, moveColors, proposalArrows } from "./council.js";
import { h, say, show } from "./dom.js";
import { get, me } from "./server.js";
import { centipawns, chance, clock, inMinutes, moment, other, player, ratingChange, score, seconds, words } from "./words.js";

/** The pause before a missing report is requested again. */
const RETRY_MS = 2000;

export async function open(page, { parts: [server, id], query }) {
  const address = `/api/games/${encodeURIComponent(server)}/${encodeURIComponent(id)}`;
  const replay = await get(address).catch((error) => error);
  if (replay instanceof Error) {
    return void page.append(h("section.card.narrow", {}, h("h1", {}, "No such game"), h("p", {}, words(replay)), h("a.button.main", { href: "#/games" }, "All games")));
  }
  let view = new ReplayView(page, replay, address, Number(query.get("ply") ?? replay.moves.length));
  let open = true;
  if (query.has("report")) replay.report ? view.toReport() : awaitReport();
  return () => ((open = false), view.stop());

  /** Waits for the report: the demo makes it while no game runs; otherwise a command does. */
  function awaitReport() {
    const card = h("section.card.report", {}, h("h2", {}, "Report"), h("p", {}, me.demo
      ? "This game has no report yet. The program makes it while no game runs. It appears here."
      : "This game has no report yet. Make one with the command concilio report."));
    page.append(card);
    card.scrollIntoView();
    if (me.demo) setTimeout(look, RETRY_MS);
  }

  async function look() {
    if (!open) return;
    const judged = document.hidden ? null : await get(address).catch(() => null);
    if (!open) return;
    if (!judged?.report) return void setTimeout(look, RETRY_MS);
    view.stop();
    page.replaceChildren();
    view = new ReplayView(page, judged, address, view.ply);
    view.toReport();
  }
}

class ReplayView {
  constructor(page, { game, start_fen, opening, ending, report, moves, chat, faults }, address, ply) {
    Object.assign(this, { page, game, moves, report, address, startFen: start_fen });
    this.below = game.our_color;
    this.board = new Board();
    this.bar = new EvaluationBar();
    this.players = { white: new PlayerLine("white"), black: new PlayerLine("black") };
    this.vote = new VotePanel();
    this.table = new CouncilTable();
    this.legend = new VoteLegend();
    this.list = new MoveList((to) => this.go(to));
    const marked = [moves.some(isChanged) && ["changed", "changed by the second phase"], moves.some(({ vote }) => isSplit(vote)) && ["split", "split vote"]];
    this.marks = legend(marked.filter(Boolean));
    this.verdict = h("p.verdict", { role: "status" });
    this.about = h("p.quiet.budget");
    this.expected = new ExpectedLine(() => this.showBoard());
    this.details = h("details.meanings", {}, h("summary", {}, "Time and network lag"), this.about);
    this.upper = h("div");
    this.lower = h("div");
    for (const color of ["white", "black"]) this.players[color].show(game[color], { ours: color === game.our_color });
    const step = (text, label, to) => h("button", { type: "button", "aria-label": label, title: label, onclick: () => this.go(to()) }, text);
    const steps = h("div.row.steps", {}, step("«", "To the start (Home)", () => 0), step("‹", "Previous move (←)", () => this.ply - 1),
      step("›", "Next move (→)", () => this.ply + 1), step("»", "To the end (End)", () => moves.length),
      h("button.plain", { type: "button", onclick: () => this.flip() }, "Flip"),
      h("a.button", { href: `${address}/game.pgn`, download: "game.pgn" }, "PGN"), h("a.button", { href: `${address}/game.json`, download: "game.json" }, "JSON"));
    const rated = game.rated ? "rated" : "casual";
    const points = game.winner ? (game.winner === "white" ? "1-0" : "0-1") : game.result === "drawn" ? "½-½" : "";
    const result = [points, ending || "not finished", ratingChange(game.rating_change)].filter(Boolean).join(" · ");
    const terms = `${moment(game.started_at)} · ${game.server} · ${inMinutes(game.time_control)} ${game.speed} · ${rated}`;
    page.append(h("section.focus", { "aria-label": "The game" },
      h("div.stand", {}, this.upper, h("div.boardrow", {}, this.bar.element, this.board.element), this.lower),
      h("div.side", {}, h("h1.match", {}, `${player(game.white)} – ${player(game.black)}`),
        h("p.terms", {}, terms, opening && h("span.opening", {}, ` · ${opening.eco} ${opening.name}`)),
        h("p.over", { data: { ours: game.result ?? "" } }, result), steps, this.verdict, this.vote.element, this.expected.element, this.list.element,
        this.marks, this.table.element, this.legend.element, this.details)));
    this.chances = this.chancesChart();
    this.times = this.timeChart();
    const shown = legend([["", "the bot's vote"], report && ["second", `the judge: ${report.judge}`]].filter(Boolean));
    page.append(h("div.columns", {},
      this.votesCard(),
      h("section.card.report", {}, h("h2", {}, "Winning chances"), this.chances.element, shown,
        h("p.quiet.budget", {}, "White's expected score, per cent of a point."), report && this.reportLink()),
      h("section.card", {}, h("h2", {}, "Time for each move of the bot"), this.times.bars.element),
      this.times.clocks ? h("section.card", {}, h("h2", {}, "Clocks"), this.times.clocks.element,
        legend([["", game.our_color], ["second", other(game.our_color)]])) : "",
      notes("Chat", chat.map((line) => [line.said_at, h("span", {}, h("b", {}, line.username), ` ${line.text}`)])),
      notes("Faults", faults.map((fault) => [fault.met_at, h("span", {}, fault.what)]))));
    const onKey = (event) => this.key(event);
    document.addEventListener("keydown", onKey);
    this.stop = () => (this.expected.leave(), document.removeEventListener("keydown", onKey));
    this.go(ply);
  }

  toReport() {
    this.page.querySelector(".report")?.scrollIntoView();
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
    const to = { ArrowLeft: this.ply - 1, ArrowRight: this.ply + 1, Home: 0, End: this.moves.length }[event.key];
    if (to !== undefined) this.go(to);
    else if (event.key === "f") this.flip();
    else return;
    event.preventDefault();
  }

  flip() {
    this.below = other(this.below);
    this.go(this.ply);
  }

  /** Shows the position after so many moves, and how the last of them came about. */
  go(ply) {
    this.expected.leave();
    this.ply = Math.max(0, Math.min(this.moves.length, ply || 0));
    const move = this.moves[this.ply - 1];
    const fen = move?.fen ?? this.startFen;
    const turn = fen.split(" ")[1] === "b" ? "black" : "white";
    this.board.orient(this.below);
    this.upper.replaceChildren(this.players[other(this.below)].element);
    this.lower.replaceChildren(this.players[this.below].element);
    this.here = { fen, last: move?.uci ?? null, check: Boolean(move?.san.match(/[+#]$/)), turn };
    const clocks = this.clocksAt(this.ply);
    for (const line of Object.values(this.players)) line.tick({ clocks, turn, running: false }, false);
    this.showVotes(move);
    const marks = this.moves.map((played) => (isChanged(played) ? "changed" : isSplit(played.vote) ? "split" : ""));
    this.list.show(this.moves.map(({ san }, index) => san + (this.report?.moves[index]?.sign ?? "")), { black: this.startFen.split(" ")[1] === "b", number: Number(this.startFen.split(" ").at(-1)) || 1, here: this.ply, marks });
    for (const chart of [this.chances, this.times.bars, this.times.clocks]) chart?.mark(this.ply);
    for (const row of this.voteRows) row.classList.toggle("here", Number(row.dataset.ply) === this.ply);
    const judged = this.report?.moves[this.ply - 1];
    say(this.verdict, judged?.label && `${this.numbered(this.ply - 1)}${judged.sign} was ${judged.label === "inaccuracy" ? "an" : "a"} ${judged.label}: it cost ${judged.loss.toFixed(0)} % of a point${judged.better ? `; ${judged.better} was better` : ""}.`);
    show(this.verdict, judged?.label);
    history.replaceState(null, "", `${location.hash.split("?")[0]}?ply=${this.ply}`);
  }

  showVotes(move) {
    const ours = move?.ours;
    const votes = (move?.votes ?? []).map(({ elector_in_words: named, ...vote }) => ({ elector: vote.phase === 2 ? "re-search" : vote.elector, words: named.name,
      short: named.short, adviser: named.adviser, knowledge: vote.knowledge, san: vote.san, uci: vote.uci,
      score: score(vote.score), cp: centipawns(vote.score), depth: vote.depth, nodes: vote.nodes, weight: vote.weight, machine: vote.machine, second: vote.phase === 2, line: vote.line }));
    show(this.table.element, votes.length);
    const vote = move?.vote && { ...move.vote, san: move.san, uci: move.uci, score: score(ours.score) };
    const colors = moveColors(move?.vote?.groups ?? [], move?.uci);
    this.vote.show(vote && this.numbered(this.ply - 1).split(" ")[0], vote, colors);
    this.expected.show(move?.expected ?? []);
    this.legend.show(ours?.criterion ?? "", move?.vote?.rule ?? "");
    show(this.legend.element, votes.length);
    this.table.show({ votes, elected: move?.uci ?? null, colors, caption: move?.vote?.rule ? `Elected by ${ours.criterion}: ${move.vote.rule}.` : "" });
    this.arrows = proposalArrows(votes.filter(({ second }) => !second), move?.uci, colors);
    this.showBoard();
    const [cp, text] = this.valueAt(this.ply);
    this.bar.show(cp, text, this.below);
    const parts = ours && [`${seconds(ours.elapsed)} of ${seconds(ours.response)} planned, at most ${seconds(ours.extra)} more`,
      `${Math.round(ours.lag * 1000)} ms reserved for network lag`,
      ours.first_choice && ours.first_choice !== move.uci && `choice of the first phase: ${ours.first_choice}`];
    say(this.about, parts ? parts.filter(Boolean).join(" · ") : "");
    show(this.details, ours);
  }

  /** Shows the position of the game with its arrows, or the studied one. */
  showBoard() {
    const studied = this.expected.position;
    this.board.show(studied ?? this.here);
    this.board.arrows(studied ? [] : this.arrows);
    this.page.classList.toggle("studying", Boolean(studied));
  }

  /** Returns the newest value at a ply, from White's side. */
  valueAt(ply) {
    for (let at = ply - 1; at >= 0 && at >= ply - 2; at--) {
      const value = this.moves[at].ours?.score;
      if (value) return fromWhite(centipawns(value), score(value), this.game.our_color);
    }
    return [null, ""];
  }

  clocksAt(ply) {
    const after = [null, null];
    this.moves.slice(0, ply).forEach((move) => {
      const color = move.fen.split(" ")[1] === "b" ? 0 : 1;
      if (move.clock_after !== null) after[color] = move.clock_after * 1000;
    });
    return after.every((time) => time === null) ? null : after;
  }

  /** White's expected score by move, by the votes and, if there is a report, by the judge. */
  chancesChart() {
    const voted = this.moves.flatMap(({ ours }, index) => {
      const value = centipawns(ours?.score);
      return value === null ? [] : [[index + 1, 100 * chance(this.game.our_color === "white" ? value : -value)]];
    });
    const judged = this.report?.moves.map(({ expected }, index) => [index + 1, expected]);
    const series = [{ points: voted }, judged && { kind: "second", points: [[0, 50], ...judged] }].filter(Boolean);
    return curves({ series, from: 0, to: Math.max(1, this.moves.length), low: 0, high: 100, area: 50,
      marks: [[0, "0"], [50, "50 %"], [100, "100"]], onPick: (ply) => this.go(ply), label: "White's winning chances by move" });
  }

  /** The accuracy by the judge, and a link to the report. */
  reportLink() {
    const { accuracy } = this.report;
    const exact = ["white", "black"].filter((color) => accuracy[color] !== null).map((color) => `${color} ${accuracy[color].toFixed(1)}\u00a0%`);
    return h("div.row.spread", {}, h("span", {}, exact.length ? `Accuracy: ${exact.join(", ")}` : ""), h("a.button", { href: `${this.address}/report.html` }, "Report"));
  }

  /** Every vote in a sentence; on request the split votes only. */
  votesCard() {
    const voted = this.moves.map((move, index) => ({ ...move, index })).filter(({ vote }) => vote && vote.groups.length > 0);
    this.voteRows = voted.map(({ vote, index }) => h("li", { data: { ply: index + 1, split: isSplit(vote) } },
      h("button.plain", { type: "button", onclick: () => this.go(index + 1) }, this.numbered(index)), h("span", {}, capital(vote.sentence))));
    const divided = voted.filter(({ vote }) => isSplit(vote)).length;
    const list = h("ul.rows.votelist", { tabIndex: 0, "aria-label": "Votes" }, ...this.voteRows);
    const only = h("input", { type: "checkbox", onchange: () => list.classList.toggle("onlysplit", only.checked) });
    return voted.length ? h("section.card", {}, h("div.row.heads", {}, h("h2", {}, "Votes"), h("label.check", {}, only, ` only split votes (${divided} of ${voted.length})`)), list) : "";
  }

  /** `12. Nf3` or `12… Nf6`. */
  numbered(index) {
    const [, turn, , , , number] = this.startFen.split(" ");
    const place = index + (turn === "b" ? 1 : 0);
    return `${(Number(number) || 1) + Math.floor(place / 2)}${place % 2 ? "…" : "."} ${this.moves[index]?.san ?? ""}`;
  }

  timeChart() {
    const columns = this.moves.flatMap(({ ours }, index) => (ours ? [[index + 1, ours.elapsed]] : []));
    const most = Math.max(0.1, ...columns.map(([, value]) => value));
    const range = { from: 0, to: Math.max(1, this.moves.length), onPick: (ply) => this.go(ply) };
    const clocks = [[], []];
    this.moves.forEach((move, index) => {
      if (move.clock_after !== null) clocks[move.fen.split(" ")[1] === "b" ? 0 : 1].push([index + 1, move.clock_after]);
    });
    const high = Math.max(1, ...clocks.flat().map(([, value]) => value));
    const [ours, theirs] = this.game.our_color === "white" ? clocks : [clocks[1], clocks[0]];
    return {
      bars: bars({ columns, high: most, marks: [[0, "0"], [most, seconds(most)]], label: "Time for each move of the bot", ...range }),
      clocks: clocks.flat().length ? curves({ series: [{ points: ours }, { kind: "second", points: theirs }], low: 0, high, height: 130,
        marks: [[0, "0"], [high, clock(high * 1000)]], label: "Clocks by move", ...range }) : null,
    };
  }
}

/** True if the second phase changed the choice of the first. */
const isChanged = ({ ours, uci }) => Boolean(ours?.first_choice && ours.first_choice !== uci);

/** True if the proposals differed. */
const isSplit = (vote) => (vote?.groups.length ?? 0) > 1;

function notes(title, rows) {
  if (!rows.length) return "";
  return h("section.card", {}, h("h2", {}, title), h("ul.rows", { tabIndex: 0, "aria-label": title }, ...rows.map(([at, text]) => h("li", {}, h("time", { dateTime: at }, moment(at)), text))));
}
