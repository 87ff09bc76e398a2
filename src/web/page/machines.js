// Machines: whose cores search, and for what.

import { h } from "./dom.js";
import { get, me } from "./server.js";
import { withoutDaemon } from "./now.js";
import { short, words } from "./words.js";

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
    machine.speed && `${short(machine.speed * 1000)} nodes a second and core`, machine.lag !== null && `${machine.lag.toFixed(1)} ms away`];
  const games = Map.groupBy(searches, (search) => (search.ours ? search.game : "another bot's"));
  const rows = [...games].map(([game, rows]) => h("tr", {}, h("td", {}, game), h("td.electors", {}, rows.map(({ elector }) => elector).join(" ")),
    h("td.num", {}, threads(rows)), h("td.num", {}, short(rows.reduce((sum, { nodes }) => sum + nodes, 0)))));
  return h("section.card.machine", {}, h("h2", {}, machine.name, h("span.quiet", {}, machine.here ? "plays the games" : "")),
    h("div.cores", { "aria-hidden": "true" }, ...cores), h("p.quiet", {}, facts.filter(Boolean).join(" · ")),
    machine.closed && h("p.reason", {}, `It gets no searches: ${machine.closed}.`),
    rows.length > 0 && h("div.scroll", { tabIndex: 0, role: "group" }, h("table.list", {}, h("thead", {}, h("tr", {}, h("th", {}, "Game"), h("th", {}, "Electors"), h("th.num", {}, "Threads"), h("th.num", {}, "Nodes"))), h("tbody", {}, ...rows))));
}

function alone() {
  return h("section.card", {}, h("h2", {}, "No other machines connected"),
    h("p.quiet", {}, "Start concilio worker on other machines, with the NATS server that the cluster table of the settings names, and they appear here."));
}
