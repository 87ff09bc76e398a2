// The page: tabs, colours, login.

import { h, notice, show, say } from "./dom.js";
import * as games from "./games.js";
import * as machines from "./machines.js";
import * as now from "./now.js";
import * as play from "./play.js";
import * as game from "./replay.js";
import { live, me, post, recognise } from "./server.js";
import { moment, words } from "./words.js";

// All tabs are loaded at the start, so that they work after the program has ended.
const TABS = { now, games, game, machines, play };
const TITLES = { now: "Now", games: "Games", game: "Game", machines: "Machines", play: "Play" };
for (const { dataset, textContent } of document.querySelectorAll(".tabs a[data-script]")) {
  TABS[dataset.tab] = await import(dataset.script);
  TITLES[dataset.tab] = textContent;
}
const CONNECTION = { connecting: "connecting", connected: "live", lost: "connection lost" };

const page = document.getElementById("page");
let leave = null;
let visit = 0;
/** True if the tab failed to open. */
let failed = false;

/** Decodes a part of an address; invalid encodings stay as they are. */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Returns the tab and its parameters from the fragment of the address. */
function where() {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
  const parts = path.split("/").filter(Boolean).map(decoded);
  const tab = parts[0] === "games" && parts.length > 2 ? "game" : (parts[0] ?? "now");
  return { tab: tab in TABS ? tab : "now", parts: parts.slice(1), query: new URLSearchParams(query) };
}

async function enter() {
  const { tab, parts, query } = where();
  const ours = ++visit;
  for (const link of document.querySelectorAll(".tabs a")) {
    const here = link.dataset.tab === tab || (tab === "game" && link.dataset.tab === "games");
    here ? link.setAttribute("aria-current", "page") : link.removeAttribute("aria-current");
  }
  document.title = `${TITLES[tab]} · concilio`;
  failed = false;
  try {
    leave?.();
    leave = null;
    page.replaceChildren();
    page.dataset.tab = tab;
    if (!me.reads) return askToLogIn();
    const left = (await TABS[tab].open(page, { parts, query })) ?? null;
    ours === visit ? (leave = left) : left?.();
  } catch (error) {
    if (ours !== visit) return;
    failed = true;
    page.replaceChildren(h("h1.vh", {}, TITLES[tab]), h("p.empty", {}, words(error)));
  }
}

/** Shows the state of the connection, and reopens a failed tab after a reconnection. */
function showConnection() {
  const connection = document.getElementById("connection");
  const offline = document.getElementById("offline");
  if (connection.dataset.state === live.state) return;
  const back = connection.dataset.state === "lost" && live.state === "connected";
  connection.dataset.state = live.state;
  say(connection, live.state === "connected" && !me.daemon ? "journal" : CONNECTION[live.state]);
  show(offline, live.state === "lost");
  document.body.classList.toggle("stale", live.state === "lost");
  if (live.state === "lost") say(offline, `The program has not answered since ${moment(live.lostAt)}. This page shows the last known state and reconnects by itself.`);
  if (back && failed) enter();
}

function askToLogIn() {
  page.append(h("section.card.narrow", {}, h("h1", {}, "This page is not public"),
    h("p", {}, "Log in with the operator's secret to see it."),
    h("button.main", { type: "button", onclick: openLogin }, "Log in")));
}

// Colours: the system setting until the user chooses.

const THEMES = ["auto", "light", "dark"];

function theme(chosen) {
  document.documentElement.dataset.theme = chosen;
  const button = document.getElementById("theme");
  say(button, { auto: "◐", light: "☀", dark: "☾" }[chosen]);
  button.title = `Colours: ${chosen} (t)`;
  try {
    localStorage.setItem("theme", chosen);
  } catch {
    // Storage is disabled: the next visit follows the system.
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
  h("p.quiet", {}, "It is in the file named by web.secret_file."),
  h("label.field", {}, h("span", {}, "Secret"), secret), error,
  h("div.row.end", {}, h("button", { type: "button", onclick: () => dialog.close() }, "Cancel"),
    h("button.main", { type: "submit" }, "Log in")));
  dialog.replaceChildren(form);
  dialog.showModal();
}

/** Logs in; returns an error text, or null. */
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
  // Without a daemon there are only the games of the journal.
  for (const link of document.querySelectorAll(".tabs a")) show(link, me.daemon || ["now", "games"].includes(link.dataset.tab));
  watch();
  await enter();
}

/** Connects while the page is visible. A browser opens six connections to a host: with a connection per hidden page, a seventh page
    would wait for ever. */
function watch() {
  if (document.hidden || !me.reads) live.close();
  else live.connect();
}

async function loginClicked() {
  if (!me.operates) return openLogin();
  await post("/api/logout");
  await become();
}

/** Moves the focus past the header. The address names the tab, so the link must not change it. */
function skip(event) {
  event.preventDefault();
  page.focus();
}

// Keys: a digit for a tab, t for the colours.

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea, dialog")) return;
  const tab = document.querySelectorAll(".tabs a:not([hidden])")[Number(event.key) - 1];
  if (tab) location.hash = tab.hash;
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
  live.listen(showConnection);
  // A link may contain the secret; it is removed from the address.
  const secret = location.hash.match(/^#secret=(.+)$/)?.[1];
  if (secret) {
    history.replaceState(null, "", "#/");
    // With an outdated secret the page opens without a login.
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
