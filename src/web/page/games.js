// Games: a searchable list of the journal, and its results.

import { curves, legend } from "./chart.js";
import { choice, field, h, say, show } from "./dom.js";
import { get } from "./server.js";
import { day, inMinutes, moment, words } from "./words.js";

const SPEEDS = ["ultraBullet", "bullet", "blitz", "rapid", "classical", "correspondence"];
const PAGE = 50;
const COLUMNS = [["Date", "started_at"], ["Opponent", "opponent"], ["Rating", "rating", "num wide"], ["Result"], ["Colour", "", "wide"], ["Clock", "", "wide"],
  ["Mode", "", "wide"], ["Opening", "", "wide"], ["End"], ["Moves", "moves", "num wide"], ["Report", "", "wide"]];

export function open(page) {
  const filters = {
    opponent: h("input", { type: "search", placeholder: "any", autocomplete: "off" }),
    result: choice([["", "any"], "won", "drawn", "lost"]),
    speed: choice([["", "any"], ...SPEEDS]),
    server: h("input", { placeholder: "any", autocomplete: "off" }),
    since: h("input", { type: "date" }),
    until: h("input", { type: "date" }),
  };
  const names = { opponent: "Opponent", result: "Result", speed: "Speed", server: "Server", since: "From", until: "Before" };
  let [sort, from, visit] = ["-started_at", 0, 0];

  const found = h("p.quiet");
  const head = h("tr");
  const body = h("tbody");
  const downloads = h("span.row");
  const earlier = h("button", { type: "button", onclick: () => go(from - PAGE) }, "← newer");
  const later = h("button", { type: "button", onclick: () => go(from + PAGE) }, "older →");
  const results = h("div.columns");
  const form = h("form.filters", { onsubmit: (event) => event.preventDefault(), oninput: () => (clearTimeout(form.timer), form.timer = setTimeout(() => go(0), 250)) },
    ...Object.entries(filters).map(([name, input]) => field(names[name], input)));
  // Hidden until the first answer, so that the layout does not shift.
  const loaded = h("div", { hidden: true }, h("div.row.heads", {}, found, downloads),
    h("div.scroll", { tabIndex: 0, role: "group" }, h("table.list", {}, h("thead", {}, head), body)), h("div.row.end", {}, earlier, later));
  page.append(
    h("section.card", {}, h("h1", {}, "Games"), form, loaded), results);

  const query = () => new URLSearchParams(Object.entries(filters).map(([name, input]) => [name, input.value.trim()]).filter(([, value]) => value));

  async function go(start) {
    from = Math.max(0, start);
    const ours = ++visit;
    showHead();
    const filter = query();
    try {
      const [list, sums] = await Promise.all([get(`/api/games?${filter}&sort=${sort}&from=${from}&limit=${PAGE}`), get(`/api/results?${filter}`)]);
      if (ours !== visit) return;
      say(found, list.found ? `${list.found} game${list.found === 1 ? "" : "s"}` : `${filter}` ? "No games match the filter." : "No games yet.");
      body.replaceChildren(...list.games.map(gameRow));
      earlier.disabled = from === 0;
      later.disabled = from + PAGE >= list.found;
      downloads.replaceChildren(list.report ? h("a.button", { href: list.report }, "Report") : "", ...["pgn", "json", "csv"].map((kind) => h("a.button", { href: `/api/export/games.${kind}?${filter}`, download: `concilio.${kind}` }, kind.toUpperCase())));
      showResults(sums);
    } catch (error) {
      if (ours === visit) say(found, words(error));
    }
    show(loaded, true);
  }

  function showHead() {
    head.replaceChildren(...COLUMNS.map(([text, key, kind = ""]) => {
      if (!key) return h("th", { scope: "col", className: kind }, text);
      const here = sort.replace("-", "") === key;
      const order = here ? (sort.startsWith("-") ? "descending" : "ascending") : "none";
      return h("th", { scope: "col", className: kind, "aria-sort": order },
        h("button", { type: "button", onclick: () => (sort = here && sort.startsWith("-") ? key : `-${key}`, go(0)) }, text));
    }));
  }

  function showResults(sums) {
    const games = sums.total.won + sums.total.drawn + sums.total.lost;
    const points = sums.total.won + sums.total.drawn / 2;
    results.replaceChildren(...(games ? [
      h("section.card", {}, h("h2", {}, "All games"), h("div.figures", {},
        figure(games, "games"), figure(`${((100 * points) / games).toFixed(1)} %`, "score"), figure(sums.total.won, "won"),
        figure(sums.total.drawn, "drawn"), figure(sums.total.lost, "lost"))),
      ratingCard(sums.ratings),
      sumCard("By opponent", sums.opponents), sumCard("By opening", sums.openings), sumCard("By speed", sums.speeds),
      sumCard("By colour", sums.colours), sumCard("By ending", sums.endings),
    ].filter(Boolean) : []));
  }

  go(0);
}

const figure = (value, text) => h("div.figure", {}, h("b", {}, value), h("span", {}, text));

/** A row with a link to its game; on a phone the less important columns are below the opponent. */
function gameRow(game) {
  const opponent = game.our_color === "white" ? game.black : game.white;
  const address = `#/games/${encodeURIComponent(game.server)}/${encodeURIComponent(game.game)}`;
  const clock = `${inMinutes(game.time_control)} ${game.speed}`;
  const opening = game.opening ? `${game.opening.eco} ${game.opening.name}` : "";
  const mode = `${game.rated ? "rated" : "casual"}${game.variant === "standard" ? "" : ` ${game.variant}`}`;
  const moves = Math.ceil(game.plies / 2);
  const open = (event) => event.target.closest("a") || getSelection().toString() || (location.hash = address);
  const report = () => game.judged && h("a", { href: `/api${address.slice(1)}/report.html` }, "report");
  return h("tr.found", { data: { result: game.result ?? "" }, onclick: open },
    h("td", {}, h("a", { href: address }, moment(game.started_at))),
    h("td.opponent", { title: opponent.name }, [opponent.title, opponent.name].filter(Boolean).join(" ")),
    h("td.num.wide", {}, opponent.rating ?? ""), h("td", {}, game.result ? h("span.tag", {}, game.result) : "—"),
    h("td.wide", {}, game.our_color), h("td.wide", {}, clock), h("td.wide", {}, mode),
    h("td.wide.opening", { title: game.opening?.name ?? "" }, opening),
    h("td", {}, game.status),
    h("td.num.wide", {}, moves),
    h("td.wide", {}, report()),
    h("td.onphone", {}, [opponent.rating, game.our_color, clock, mode, `${moves} moves`, opening].filter(Boolean).join(" · "), game.judged && [" · ", report()]));
}

function sumCard(title, rows) {
  if (!rows.length) return null;
  const line = (row) => {
    const games = row.won + row.drawn + row.lost;
    const part = (kind) => {
      const element = h(`i.${kind}`);
      element.style.width = `${(100 * row[kind]) / games}%`;
      return element;
    };
    return h("tr", {}, h("td.opponent", { title: row.name }, row.name), h("td.num", {}, games),
      h("td.num", {}, `${((100 * (row.won + row.drawn / 2)) / games).toFixed(0)} %`),
      h("td", {}, h("span.split", { title: `${row.won} won, ${row.drawn} drawn, ${row.lost} lost` }, part("won"), part("drawn"), part("lost"))));
  };
  return h("section.card.sums", {}, h("h2", {}, title), h("div.rows", { tabIndex: 0, "aria-label": title, role: "group" }, h("table.list", {},
    h("thead", {}, h("tr", {}, h("th", {}, h("span.vh", {}, title)), h("th.num", {}, "Games"), h("th.num", {}, "Score"), h("th", {}, h("span", { title: "won, drawn, lost" }, "+ = −")))),
    h("tbody", {}, ...rows.map(line)))));
}

function ratingCard(ratings) {
  const known = Object.entries(ratings).filter(([, points]) => points.length > 1).slice(0, 4);
  if (!known.length) return null;
  const all = known.flatMap(([, points]) => points);
  const [from, to] = [Math.min(...all.map(([at]) => at)), Math.max(...all.map(([at]) => at))];
  const [low, high] = [Math.floor((Math.min(...all.map(([, v]) => v)) - 10) / 50) * 50, Math.ceil((Math.max(...all.map(([, v]) => v)) + 10) / 50) * 50];
  const step = Math.max(50, Math.ceil((high - low) / 4 / 50) * 50);
  const marks = [];
  for (let value = low; value <= high; value += step) marks.push([value, String(value)]);
  const kinds = ["", "second", "third", "fourth"];
  const chart = curves({ series: known.map(([, points], index) => ({ kind: kinds[index], points })), from, to, low, high, marks,
    below: [[from, day(from), "start"], [to, day(to), "end"]], label: "Rating by time" });
  return h("section.card", {}, h("h2", {}, "Rating"), chart.element, legend(known.map(([name], index) => [kinds[index], name])));
}
