// Building the document. Data from outside becomes text, never markup.

const SVG = "http://www.w3.org/2000/svg";

// Control characters and marks of writing direction.
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Escapes control characters and marks of direction, such as \u{202e}. */
export function plain(text) {
  return text.replace(CONTROLS, (letter) => `\\u{${letter.codePointAt(0).toString(16)}}`);
}

/** An HTML element: `h("a.quiet", { href: "#/" }, "text", otherElement)`. */
export function h(name, properties = {}, ...children) {
  const [tag, ...classes] = name.split(".");
  const element = document.createElement(tag || "div");
  if (classes.length) element.className = classes.join(" ");
  set(element, properties);
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false).map(shown));
  return element;
}

/** An SVG element with attributes. */
export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children.flat().map(shown));
  return element;
}

const shown = (child) => (child instanceof Node ? child : plain(String(child)));

function set(element, properties) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name.includes("-") || name === "role" || name === "list") element.setAttribute(name, value);
    else if (name === "data") Object.assign(element.dataset, value);
    else element[name] = name === "title" ? plain(value) : value;
  }
}

/** Sets an element's text if it differs, to avoid a new layout. */
export function say(element, text) {
  const words = text === null || text === undefined ? "" : plain(String(text));
  if (element.textContent !== words) element.textContent = words;
}

/** Shows or hides an element. */
export function show(element, yes) {
  if (element.hidden === Boolean(yes)) element.hidden = !yes;
}

/** A label around a field. */
export function field(label, input) {
  return h("label.field", {}, h("span", {}, label), input);
}

/** A list to choose from; options are texts or [value, text]. */
export function choice(options, properties = {}) {
  const items = options.map((option) => {
    const [value, text] = Array.isArray(option) ? option : [option, option];
    return h("option", { value }, text);
  });
  const { value, ...others } = properties;
  const select = h("select", others, ...items);
  if (value !== undefined) select.value = value;
  return select;
}

/** The choice of White, Black or random, as the field `color` of a form. */
export function colorChoice() {
  const options = [["white", "White"], ["", "Random"], ["black", "Black"]].map(([value, text]) =>
    h("label", {}, h("input", { type: "radio", name: "color", value, checked: value === "white" }), text));
  return h("div.field", {}, h("span", {}, "Your colour"), h("div.segments", { role: "radiogroup", "aria-label": "Your colour" }, ...options));
}

/** Announces a change to screen readers: a move of the other side, the square under the cursor. */
export function announce(text) {
  document.getElementById("announcer").textContent = plain(text);
}

/** Shows a short notice for a while. */
export function notice(text, kind = "info") {
  const element = h("div.notice", { role: kind === "bad" ? "alert" : "status", data: { kind } }, text);
  const all = document.getElementById("notices");
  all.append(element);
  while (all.children.length > 4) all.firstChild.remove();
  setTimeout(() => element.remove(), kind === "bad" ? 9000 : 4500);
}
