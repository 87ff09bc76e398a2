// The way to the program: questions, commands, and the stream of what happens.

import { words } from "./words.js";

/** Asks; the answer is JSON. Errors carry the program's own words. */
export async function get(path) {
  return answer(await reach(path, { headers: { accept: "application/json" } }));
}

/** Fetches, with words for a program that is gone. */
async function reach(path, options) {
  try {
    return await fetch(path, options);
  } catch (error) {
    throw error.name === "AbortError" ? error : new Error("The program does not answer.");
  }
}

/** Sends JSON. `signal` of an AbortController ends the waiting. */
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
    // It came from before the program: a proxy, say.
  }
  throw Object.assign(new Error(problem.error || `the program answered ${response.status}`), { field: problem.field });
}

/** Silence of the program for this long means that it is gone: it says something every four seconds. */
const SILENCE_MS = 11_000;

/** Who we are to the program, {reads, plays, operates, can_log_in}, and what it is: {daemon, demo, edition}. */
export const me = { reads: false, plays: false, operates: false, can_log_in: false, daemon: true, demo: false, edition: null };

export async function recognise() {
  Object.assign(me, await get("/api/me"));
  return me;
}

/** What is now, kept up to date while somebody listens. */
class Live {
  constructor() {
    this.clear();
    this.listeners = new Set();
    this.state = "connecting";
    this.source = null;
  }

  clear() {
    /** Whether anything was heard yet. */
    this.known = false;
    this.accounts = {};
    this.games = {};
    this.challenges = [];
    this.log = [];
  }

  /** Calls `listener({ games: Set of keys, accounts, challenges, log, all })` on every change. Returns how to stop it. */
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
      // A browser gives up by itself where the answer was no stream.
      if (source.readyState === EventSource.CLOSED) setTimeout(() => this.source === source && this.again(), 1000);
    });
  }

  /** The program is there again, perhaps another one: then the page begins anew. */
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

  /** Connects once more. A program that was started anew does not know us any longer: then the page begins anew as well. */
  async again() {
    const source = this.source;
    try {
      if (!(await recognise()).reads) return location.reload();
    } catch {
      // It is not there yet.
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
    this.tell({ line: true, games: new Set() });
  }

  merge(frame, all) {
    const at = performance.now();
    this.known = true;
    Object.assign(this.accounts, frame.accounts);
    for (const key of frame.gone ?? []) delete this.games[key];
    for (const [key, parts] of Object.entries(frame.games)) mergeGame((this.games[key] ??= { votes: new Map() }), parts, at);
    const challenges = append(this.challenges, frame.challenges, 40);
    const log = append(this.log, frame.log, 200);
    const games = new Set([...Object.keys(frame.games), ...(frame.gone ?? [])]);
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

/** Adds rows that are new; the rows are counted, so that none comes twice. */
function append(rows, more, most) {
  const last = rows.at(-1)?.serial ?? 0;
  const fresh = (more ?? []).filter((row) => row.serial > last);
  rows.push(...fresh);
  rows.splice(0, Math.max(0, rows.length - most));
  return fresh.length > 0;
}

export const live = new Live();
