// Requests to the program, and the stream of its events.

import { words } from "./words.js";

/** Sends a GET request and returns its JSON. Errors have the program's message. */
export async function get(path) {
  return answer(await reach(path, { headers: { accept: "application/json" } }));
}

/** Fetches; a failed connection is an error with a readable message. */
async function reach(path, options) {
  try {
    return await fetch(path, options);
  } catch (error) {
    throw error.name === "AbortError" ? error : new Error("The program does not answer.");
  }
}

/** Sends JSON and returns the answer. `signal` of an AbortController cancels the request. */
export async function post(path, value, { signal } = {}) {
  const body = JSON.stringify(value ?? {});
  return answer(await reach(path, { method: "POST", headers: { "content-type": "application/json" }, body, signal }));
}

async function answer(response) {
  if (response.status === 204) return null;
  const text = await response.text();
  if (response.ok) return text ? JSON.parse(text) : null;
  let problem = { error: text };
  try {
    problem = JSON.parse(text);
  } catch {
    // The answer is from a proxy.
  }
  throw Object.assign(new Error(problem.error || `the program answered ${response.status}`), { field: problem.field });
}

/** After this time of silence the connection counts as lost. The program sends an event every four seconds. */
const SILENCE_MS = 11_000;

/** The permissions of this browser, {reads, plays, operates, can_log_in}, and the kind of program, {daemon, demo, edition}. */
export const me = { reads: false, plays: false, operates: false, can_log_in: false, daemon: true, demo: false, edition: null };

export async function recognise() {
  Object.assign(me, await get("/api/me"));
  return me;
}

/** The state of the bot, kept up to date while connected. */
class Live {
  constructor() {
    this.clear();
    this.listeners = new Set();
    this.state = "connecting";
    this.source = null;
  }

  clear() {
    /** True after the first event. */
    this.known = false;
    this.accounts = {};
    this.games = {};
    this.challenges = [];
    this.log = [];
  }

  /** Calls `listener({ games: Set of keys, accounts, challenges, log, all })` on every change. Returns a function to remove the listener. */
  listen(listener) {
    this.listeners.add(listener);
    listener({ all: true, games: new Set(Object.keys(this.games)), accounts: true, challenges: true, log: true });
    return () => this.listeners.delete(listener);
  }

  tell(change) {
    for (const listener of this.listeners) {
      try {
        listener(change);
      } catch (error) {
        console.error(words(error));
      }
    }
  }

  connect() {
    this.close();
    const source = new EventSource("/api/events");
    this.source = source;
    const heard = () => (this.heard = performance.now());
    heard();
    for (const name of ["open", "whole", "change", "beat"]) source.addEventListener(name, heard);
    this.watchdog = setInterval(() => {
      if (performance.now() - this.heard < SILENCE_MS) return;
      this.stand("lost");
      this.connect();
    }, 1000);
    source.addEventListener("whole", (event) => {
      this.clear();
      this.merge(JSON.parse(event.data), true);
    });
    source.addEventListener("change", (event) => this.merge(JSON.parse(event.data), false));
    source.addEventListener("open", () => (this.state === "lost" ? this.back(source) : this.stand("connected")));
    source.addEventListener("error", () => {
      this.stand("lost");
      // Browsers do not retry after an answer other than a stream.
      if (source.readyState === EventSource.CLOSED) setTimeout(() => this.source === source && this.again(), 1000);
    });
  }

  /** Handles a reconnection; the page is reloaded if another version or kind of program answers. */
  async back(source) {
    const { edition, daemon, demo } = me;
    try {
      await recognise();
    } catch {
      return;
    }
    if (edition && (me.edition !== edition || me.daemon !== daemon || me.demo !== demo)) return location.reload();
    if (this.source === source) this.stand("connected");
  }

  /** Connects once more; the page is reloaded if its permissions have ended. */
  async again() {
    const source = this.source;
    try {
      if (!(await recognise()).reads) return location.reload();
    } catch {
      // The program still does not answer.
    }
    if (this.source === source) this.connect();
  }

  close() {
    clearInterval(this.watchdog);
    this.source?.close();
    this.source = null;
  }

  stand(state) {
    if (state === "lost" && this.state !== "lost") this.lostAt = new Date().toISOString();
    this.state = state;
    this.tell({ games: new Set() });
  }

  merge(frame, all) {
    const at = performance.now();
    this.known = true;
    Object.assign(this.accounts, frame.accounts);
    for (const key of frame.removed ?? []) delete this.games[key];
    for (const [key, parts] of Object.entries(frame.games)) mergeGame((this.games[key] ??= { votes: new Map() }), parts, at);
    const challenges = append(this.challenges, frame.challenges, 40);
    const log = append(this.log, frame.log, 200);
    const games = new Set([...Object.keys(frame.games), ...(frame.removed ?? [])]);
    const accounts = Object.keys(frame.accounts).length > 0;
    this.tell({ all, games, accounts: all || accounts, challenges: all || challenges, log: all || log });
  }
}

function mergeGame(game, parts, at) {
  const { votes, ...rest } = parts;
  Object.assign(game, rest);
  if (parts.board) game.board.at = at;
  if (!votes) return;
  if (votes.fresh) game.votes.clear();
  game.votesPly = votes.ply;
  for (const row of votes.rows) game.votes.set(`${row.second} ${row.elector}`, row);
}

/** Adds the new rows, by their serial numbers; returns true if there were any. */
function append(rows, more, most) {
  const last = rows.at(-1)?.serial ?? 0;
  const fresh = (more ?? []).filter((row) => row.serial > last);
  rows.push(...fresh);
  rows.splice(0, Math.max(0, rows.length - most));
  return fresh.length > 0;
}

export const live = new Live();
