// Numbers, times and moves as text.

const numbers = new Intl.NumberFormat("en");

/** 1234567 as 1.23 M. */
export function short(number) {
  if (number === null || number === undefined) return "";
  if (number >= 1e9) return `${(number / 1e9).toFixed(2)} G`;
  if (number >= 1e6) return `${(number / 1e6).toFixed(number >= 1e7 ? 1 : 2)} M`;
  if (number >= 1e4) return `${(number / 1e3).toFixed(0)} k`;
  return numbers.format(number);
}

/** A clock: 1:23:45, 2:05, or 9.3 below ten seconds. */
export function clock(ms) {
  const left = Math.max(0, ms);
  if (left < 10_000) return `0:0${(Math.floor(left / 100) / 10).toFixed(1)}`;
  const seconds = Math.floor(left / 1000);
  const [hours, minutes, rest] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const two = (number) => String(number).padStart(2, "0");
  return hours ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}

/** Seconds, with two decimals below ten. */
export function seconds(value) {
  if (value === null || value === undefined) return "";
  return value < 10 ? `${value.toFixed(2)} s` : `${value.toFixed(1)} s`;
}

/** A moment: the time today, else the day. */
export function moment(text) {
  if (!text) return "";
  const at = new Date(text);
  const today = new Date().toDateString() === at.toDateString();
  const time = at.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit", second: today ? "2-digit" : undefined });
  return today ? time : `${day(text)} ${time}`;
}

/** The journal's clock of seconds in players' notation: 180+2 as 3+2, and 20+0.1 as 20s+0.1. */
export function inMinutes(text) {
  const [initial, increment] = text.split("+");
  if (increment === undefined) return text;
  return initial % 15 === 0 ? `${initial / 60}+${increment}` : `${initial}s+${increment}`;
}

/** A day as 2026-11-22. */
export function day(text) {
  const at = new Date(text);
  return `${at.getFullYear()}-${String(at.getMonth() + 1).padStart(2, "0")}-${String(at.getDate()).padStart(2, "0")}`;
}

/** A player with title and rating. */
export function player(row) {
  return [row.title, row.name, row.rating && `(${row.rating})`].filter(Boolean).join(" ");
}

/** A score of the journal: {cp: 34} or {mate: 3}. */
export function score(value) {
  if (!value) return "";
  if (value.mate !== undefined) return `#${value.mate}`;
  return pawns(value.cp);
}

/** Centipawns as pawns: −0.34. */
export const pawns = (cp) => `${cp >= 0 ? "+" : "−"}${(Math.abs(cp) / 100).toFixed(2)}`;

/** A score of the journal in centipawns; null without one. */
export function centipawns(value) {
  if (!value) return null;
  if (value.mate !== undefined) return value.mate > 0 ? 32000 - value.mate : -32000 - value.mate;
  return value.cp;
}

/** Centipawns as a share from 0 (lost) to 1 (won). */
export function chance(cp) {
  return 1 / (1 + Math.exp(-0.00368 * Math.max(-4000, Math.min(4000, cp))));
}

/** A weight, with two decimals if it is small and fractional. */
export function weight(value) {
  if (value === null || value === undefined) return "";
  return Math.abs(value) >= 10 || Number.isInteger(value) ? value.toFixed(0) : value.toFixed(2);
}

/** The change of the bot's rating, if there is one. */
export function ratingChange(points) {
  return points ? `rating ${points > 0 ? "+" : "−"}${Math.abs(points)}` : "";
}

/** The other colour. */
export const other = (color) => (color === "white" ? "black" : "white");

/** The number of the move after `ply` moves, as "12." or "12…". `board` has the turn, the ply and the FEN now. */
export function moveNumber(board, ply) {
  const [, turn, , , , full] = board.fen.split(" ");
  const place = 2 * Number(full) + (turn === "b" ? 1 : 0) - (board.ply - ply);
  return `${Math.floor(place / 2)}${place % 2 ? "…" : "."}`;
}

/** The message of an error. */
export const words = (error) => (error instanceof Error ? error.message : String(error));
