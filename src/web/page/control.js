// The operator's commands, the same as those of concilio ctl.

import { choice, field, h, notice } from "./dom.js";
import { live, post } from "./server.js";
import { words } from "./words.js";

async function tell(command) {
  try {
    const { done } = await post("/api/control", command);
    notice(done);
    return true;
  } catch (error) {
    notice(words(error), "bad");
    return false;
  }
}

const button = (text, command, kind = "") =>
  h(`button${kind}`, { type: "button", onclick: () => tell(command()) }, text);

/** The bar of commands about accounts. */
export function commands() {
  const accounts = h("select", { "aria-label": "Account" });
  const account = () => accounts.value || null;
  const known = () => ["", ...Object.keys(live.accounts).filter((name) => name !== "page")];
  let shown = "";
  const stop = live.listen((change) => {
    if (!change.accounts || shown === known().join(" ")) return;
    shown = known().join(" ");
    accounts.replaceChildren(...known().map((name) => h("option", { value: name }, name || "all accounts")));
  });
  const element = h("section.card.commands", { "aria-label": "Commands" },
    h("div.row", {}, accounts,
      button("Pause", () => ({ command: "pause", account: account() })),
      button("Resume", () => ({ command: "resume", account: account() })),
      button("Cancel challenges", () => ({ command: "cancel", account: account() })),
      button("Reload settings", () => ({ command: "reload" })),
      h("button.bad", { type: "button", onclick: () => confirm("Finish the running games and end the program?") && tell({ command: "drain" }) }, "Drain")),
    h("details", {}, h("summary", {}, "Challenge, block, join"), h("div.columns", {},
      challengeForm(account), blockForm(account), joinForm(account))));
  return { element, stop };
}

function form(title, fields, submit, makeCommand) {
  return h("form", { onsubmit: async (event) => {
    event.preventDefault();
    if (await tell(makeCommand())) event.target.reset();
  } }, h("h3", {}, title), ...fields, h("button.main", { type: "submit" }, submit));
}

function challengeForm(account) {
  const name = h("input", { required: true, maxLength: 64, autocomplete: "off" });
  const time = h("input", { required: true, defaultValue: "3+2", pattern: "[0-9.]+s?\\+[0-9.]+|[0-9]+d" });
  const games = h("input", { type: "number", min: 1, max: 100, defaultValue: 1 });
  const color = choice([["", "either colour"], ["white", "White"], ["black", "Black"]]);
  const rated = h("input", { type: "checkbox" });
  return form("Challenge", [field("Opponent", name), h("div.row", {}, field("Minutes + seconds", time), field("Games", games)),
    h("div.row", {}, field("Colour", color), h("label.check", {}, rated, " rated"))], "Challenge",
  () => ({ command: "challenge", name: name.value, time_control: time.value, games: Number(games.value),
    rated: rated.checked, color: color.value || null, account: account() }));
}

function blockForm(account) {
  const name = h("input", { required: true, maxLength: 64, autocomplete: "off" });
  return form("Block", [field("Player", name)], "Block", () => ({ command: "block", name: name.value, account: account() }));
}

function joinForm(account) {
  const tournament = h("input", { required: true, maxLength: 200, autocomplete: "off" });
  return form("Tournament", [field("Address or name", tournament)], "Join", () => ({ command: "join", tournament: tournament.value, account: account() }));
}

/** The buttons about one game. */
export function gameCommands({ id, server }) {
  const about = { game: id, account: server };
  const text = h("input", { maxLength: 140, placeholder: "Message to the opponent", "aria-label": "Message to the opponent" });
  return [
    button("Offer a draw", () => ({ command: "draw", ...about })),
    h("button.bad", { type: "button", onclick: () => confirm("Resign this game?") && tell({ command: "resign", ...about }) }, "Resign"),
    h("form.row.say", { onsubmit: async (event) => {
      event.preventDefault();
      if (text.value && (await tell({ command: "chat", text: text.value, ...about }))) text.value = "";
    } }, text, h("button", { type: "submit" }, "Send")),
  ];
}
