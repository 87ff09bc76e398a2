// Machines: their cores and searches.

import { lettersInWords } from "./council.js";
import { h } from "./dom.js";
import { withoutDaemon } from "./now.js";
import { get, live, me } from "./server.js";
import { other, short, words } from "./words.js";

const EVERY = 1000;

export function open(page) {
  if (!me.daemon) return void page.append(withoutDaemon());
  const all = h("div.columns.machines");
  page.append(h("h1", {}, "Machines"), all);
  let here = true;
  async function look() {
    if (!here) return;
    try {
      if (!document.hidden) {
        const machines = await get("/api/machines");
        all.replaceChildren(...machines.map(card), machines.length === 1 ? alone() : "");
      }
    } catch (error) {
      all.replaceChildren(h("p.empty", {}, words(error)));
    }
    setTimeout(look, EVERY);
  }
  look();
  return () => (here = false);
}

function card(machine) {
  const { busy, searches } = machine;
  const threads = (rows) => rows.reduce((sum, row) => sum + row.threads, 0);
  const ours = threads(searches.filter((search) => search.ours));
  const cores = Array.from({ length: Math.min(256, machine.cores) }, (_, index) => h(index < ours ? "i.busy" : index < busy ? "i.other" : "i"));
  const facts = [`${machine.cores} core${machine.cores === 1 ? "" : "s"}`, `${busy} thread${busy === 1 ? "" : "s"} searching`,
    machine.speed && `${short(machine.speed * 1000)} nodes per second and core`, machine.lag !== null && `${machine.lag.toFixed(1)} ms lag`];
  const games = Map.groupBy(searches, (search) => (search.ours ? search.game : "another bot's"));
  const rows = [...games].flatMap(([game, rows]) => [
    h("tr.game", {}, h("td", { title: game }, named(game)), h("td.num", {}, threads(rows)), h("td.num", {}, short(rows.reduce((sum, { nodes }) => sum + nodes, 0)))),
    h("tr", {}, h("td.electors", { colSpan: 3 }, ...electors(rows)))]);
  return h("section.card.machine", {}, h("h2", {}, machine.name, h("span.quiet", {}, machine.here ? "plays the games" : "")),
    h("div.cores", { "aria-hidden": "true" }, ...cores), h("p.quiet", {}, facts.filter(Boolean).join(" · ")),
    machine.closed && h("p.reason", {}, `Gets no searches: ${machine.closed}.`),
    rows.length > 0 && h("div.scroll", { tabIndex: 0, role: "group" }, h("table.list", {}, h("thead", {}, h("tr", {}, h("th", {}, "Game and electors"), h("th.num", {}, "Threads"), h("th.num", {}, "Nodes"))), h("tbody", {}, ...rows))));
}

const headOf = (game) => Object.values(live.games).find(({ head }) => head?.id === game)?.head;

/** A game by its opponent, or by its id if it is unknown. */
function named(game) {
  const head = headOf(game);
  return head ? `against ${head[other(head.our_color)].name}` : game;
}

/** The electors of these searches by knowledge, equal ones counted, single ones with their short form. */
function electors(searches) {
  const counted = new Map();
  for (const { game, elector, words } of searches) {
    const known = headOf(game)?.electors.find(({ name }) => name === elector);
    const name = known?.words ?? words;
    const row = counted.get(name) ?? { name, short: [], knowledge: known?.knowledge ?? elector };
    row.short.push(elector);
    counted.set(name, row);
  }
  return [...counted.values()].map(({ name, short, knowledge }) => h("span.name", { title: lettersInWords(knowledge) || short.join(", ") },
    short.length > 1 ? `${short.length} × ${name}` : name, short.length === 1 && short[0] !== name && [" ", h("span.knows", {}, short[0])]));
}

function alone() {
  return h("section.card", {}, h("h2", {}, "No other machines connected"),
    h("p.quiet", {}, "Start concilio worker on other machines, with the NATS server of the cluster table in the settings. They then appear here."));
}
