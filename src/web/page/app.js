// The page: which room is shown, light or dark, who is logged in.

import { h, notice, show, say } from "./dom.js";
import * as games from "./games.js";
import * as machines from "./machines.js";
import * as now from "./now.js";
import * as play from "./play.js";
import * as game from "./replay.js";
import { live, me, post, recognise } from "./server.js";
import { moment, words } from "./words.js";

// All of them are there from the start: a program that ends takes no part of the page along.
const ROOMS = { now, games, game, machines, play };
const TITLES = { now: "Now", games: "Games", game: "Game", machines: "Machines", play: "Play" };
for (const { dataset, textContent } of document.querySelectorAll(".rooms a[data-script]")) {
  ROOMS[dataset.room] = await import(dataset.script);
  TITLES[dataset.room] = textContent;
}
const LINE = { connecting: "connecting", connected: "live", lost: "connection lost" };

const page = document.getElementById("page");
let leave = null;
let visit = 0;
/** Whether the page could not be opened. */
let failed = false;

/** A part of an address in plain letters; what nobody can have encoded stays as it is. */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The room and its parameters, from the part of the address that never leaves the browser. */
function where() {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
  const parts = path.split("/").filter(Boolean).map(decoded);
  const room = parts[0] === "games" && parts.length > 2 ? "game" : (parts[0] ?? "now");
  return { room: room in ROOMS ? room : "now", parts: parts.slice(1), query: new URLSearchParams(query) };
}

async function enter() {
  const { room, parts, query } = where();
  const ours = ++visit;
  for (const link of document.querySelectorAll(".rooms a")) {
    const here = link.dataset.room === room || (room === "game" && link.dataset.room === "games");
    here ? link.setAttribute("aria-current", "page") : link.removeAttribute("aria-current");
  }
  document.title = `${TITLES[room]} · concilio`;
  failed = false;
  try {
    leave?.();
    leave = null;
    page.replaceChildren();
    page.dataset.room = room;
    if (!me.reads) return askToLogIn();
    const left = (await ROOMS[room].open(page, { parts, query })) ?? null;
    ours === visit ? (leave = left) : left?.();
  } catch (error) {
    if (ours !== visit) return;
    failed = true;
    page.replaceChildren(h("h1.vh", {}, TITLES[room]), h("p.empty", {}, words(error)));
  }
}

/** Says that the program is gone, and looks again when it is back. */
function showLine() {
  const line = document.getElementById("line");
  const gone = document.getElementById("gone");
  if (line.dataset.state === live.state) return;
  const back = line.dataset.state === "lost" && live.state === "connected";
  line.dataset.state = live.state;
  say(line, LINE[live.state]);
  show(gone, live.state === "lost");
  document.body.classList.toggle("stale", live.state === "lost");
  if (live.state === "lost") say(gone, `The program does not answer since ${moment(live.lostAt)}. This page shows what was known then, and connects again by itself.`);
  if (back && failed) enter();
}

function askToLogIn() {
  page.append(h("section.card.narrow", {}, h("h1", {}, "This page is not public"),
    h("p", {}, "Log in with the operator's secret to see it."),
    h("button.main", { type: "button", onclick: openLogin }, "Log in")));
}

// Light or dark: as the system says, until somebody chooses.

const THEMES = ["auto", "light", "dark"];

function theme(chosen) {
  document.documentElement.dataset.theme = chosen;
  const button = document.getElementById("theme");
  say(button, { auto: "◐", light: "☀", dark: "☾" }[chosen]);
  button.title = `Colours: ${chosen} (t)`;
  try {
    localStorage.setItem("theme", chosen);
  } catch {
    // A browser that keeps nothing shows what the system says next time.
  }
}

function nextTheme() {
  const now = THEMES.indexOf(document.documentElement.dataset.theme);
  theme(THEMES[(now + 1) % THEMES.length]);
}

function storedTheme() {
  try {
    const stored = localStorage.getItem("theme");
    return THEMES.includes(stored) ? stored : "auto";
  } catch {
    return "auto";
  }
}

// Logging in and out.

async function showLogin() {
  const button = document.getElementById("login");
  show(button, me.can_log_in);
  say(button, me.operates ? "Log out" : "Log in");
}

function openLogin() {
  const dialog = document.getElementById("dialog");
  const secret = h("input", { type: "password", autocomplete: "current-password", required: true });
  const error = h("p.error", { role: "alert", hidden: true });
  const form = h("form", { method: "dialog", onsubmit: async (event) => {
    event.preventDefault();
    const wrong = await logIn(secret.value);
    say(error, wrong);
    show(error, wrong);
    wrong ? secret.select() : dialog.close();
  } },
  h("h2", { id: "dialog-title" }, "The operator's secret"),
  h("p.quiet", {}, "It stands in the file that web.secret_file names."),
  h("label.field", {}, h("span", {}, "Secret"), secret), error,
  h("div.row.end", {}, h("button", { type: "button", onclick: () => dialog.close() }, "Cancel"),
    h("button.main", { type: "submit" }, "Log in")));
  dialog.replaceChildren(form);
  dialog.showModal();
}

/** Logs in; returns what was wrong, or nothing. */
async function logIn(secret) {
  try {
    await post("/api/login", { secret });
    await become();
    return null;
  } catch (error) {
    return words(error);
  }
}

async function become() {
  await recognise();
  showLogin();
  watch();
  await enter();
}

/** Follows what happens while somebody looks. A browser opens six connections to a host, so that a seventh page would wait for ever
    where each of them held one. */
function watch() {
  if (document.hidden || !me.reads) live.close();
  else live.connect();
}

async function loginClicked() {
  if (!me.operates) return openLogin();
  await post("/api/logout");
  await become();
}

/** Past what stands above every room. The address says which room that is, so the link itself must not change it. */
function skip(event) {
  event.preventDefault();
  page.focus();
}

// Keys: a digit for a room, t for the colours.

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea, dialog")) return;
  const room = document.querySelectorAll(".rooms a")[Number(event.key) - 1];
  if (room) location.hash = room.hash;
  else if (event.key === "t") nextTheme();
}

async function start() {
  theme(storedTheme());
  document.getElementById("theme").addEventListener("click", nextTheme);
  document.getElementById("login").addEventListener("click", loginClicked);
  document.querySelector(".skip").addEventListener("click", skip);
  document.addEventListener("keydown", onKey);
  addEventListener("hashchange", enter);
  document.addEventListener("visibilitychange", watch);
  live.listen(showLine);
  // A link may bring the secret along, such as one that the operator keeps; it does not stay in the address.
  const secret = location.hash.match(/^#secret=(.+)$/)?.[1];
  if (secret) {
    history.replaceState(null, "", "#/");
    // One that holds no more leaves the page as it is for anybody.
    const wrong = await logIn(decoded(secret));
    if (!wrong) return;
    notice(wrong, "bad");
  }
  try {
    await become();
  } catch (error) {
    page.replaceChildren(h("p.empty", {}, words(error)));
    setTimeout(() => location.reload(), 3000);
  }
}

start();
