// Small charts: curves and bars over the moves of a game, or over time.

import { h, svg } from "./dom.js";

const [WIDTH, LEFT, RIGHT, TOP, BOTTOM] = [420, 36, 6, 8, 20];

/**
 * Curves of points [x, y] (y null is a gap), with lines across at `marks` [[y, text]].
 * `onPick(x)` is called for the nearest x of a click; `here` is an x that is marked.
 */
export function curves({ series, from, to, low, high, marks = [], below = [], height = 160, here = null, onPick = null, label, area = null }) {
  const x = (value) => LEFT + ((value - from) / (to - from || 1)) * (WIDTH - LEFT - RIGHT);
  const y = (value) => TOP + (1 - (Math.min(high, Math.max(low, value)) - low) / (high - low || 1)) * (height - TOP - BOTTOM);
  const across = marks.flatMap(([value, text]) => [svg("line", { class: "grid", x1: LEFT, x2: WIDTH - RIGHT, y1: y(value), y2: y(value) }),
    svg("text", { x: LEFT - 6, y: y(value) + 4, "text-anchor": "end" }, text)]);
  const texts = below.map(([value, text, anchor = "middle"]) => svg("text", { x: x(value), y: height - 4, "text-anchor": anchor }, text));
  const paths = series.map(({ kind = "", points }) => svg("path", { class: `curve ${kind}`, d: path(points, x, y) }));
  const fill = area === null ? [] : series.slice(0, 1).map(({ points }) => {
    const known = points.filter(([, value]) => value !== null);
    if (!known.length) return "";
    return svg("path", { class: "area", d: `${path(known, x, y)}L${x(known.at(-1)[0])} ${y(area)}L${x(known[0][0])} ${y(area)}Z` });
  });
  const line = svg("line", { class: "here", y1: TOP, y2: height - BOTTOM });
  const chart = svg("svg", { class: "chart", viewBox: `0 0 ${WIDTH} ${height}`, role: "img", "aria-label": label }, ...across, ...texts, ...fill, ...paths, line);
  return picking(chart, { line, x, from, to, here, onPick });
}

/** Bars of [x, y, kind] from nothing upwards. */
export function bars({ columns, from, to, high, marks = [], height = 130, here = null, onPick = null, label }) {
  const x = (value) => LEFT + ((value - from) / (to - from || 1)) * (WIDTH - LEFT - RIGHT);
  const y = (value) => TOP + (1 - Math.min(1, value / (high || 1))) * (height - TOP - BOTTOM);
  const wide = Math.max(1, (WIDTH - LEFT - RIGHT) / Math.max(1, to - from) - 1);
  const across = marks.flatMap(([value, text]) => [svg("line", { class: "grid", x1: LEFT, x2: WIDTH - RIGHT, y1: y(value), y2: y(value) }),
    svg("text", { x: LEFT - 6, y: y(value) + 4, "text-anchor": "end" }, text)]);
  const drawn = columns.map(([at, value, kind = ""]) => svg("rect", { class: `bar ${kind}`, x: x(at) - wide / 2, y: y(value), width: wide, height: Math.max(0, height - BOTTOM - y(value)) }));
  const line = svg("line", { class: "here", y1: TOP, y2: height - BOTTOM });
  const chart = svg("svg", { class: "chart", viewBox: `0 0 ${WIDTH} ${height}`, role: "img", "aria-label": label }, ...across, ...drawn, line);
  return picking(chart, { line, x, from, to, here, onPick });
}

function picking(chart, { line, x, from, to, here, onPick }) {
  const mark = (value) => {
    line.setAttribute("visibility", value === null ? "hidden" : "visible");
    if (value !== null) for (const end of ["x1", "x2"]) line.setAttribute(end, x(value));
  };
  mark(here);
  if (onPick) {
    chart.addEventListener("click", (event) => {
      const box = chart.getBoundingClientRect();
      const share = (((event.clientX - box.left) / box.width) * WIDTH - LEFT) / (WIDTH - LEFT - RIGHT);
      onPick(Math.round(from + Math.min(1, Math.max(0, share)) * (to - from)));
    });
  }
  return { element: chart, mark };
}

function path(points, x, y) {
  let pen = "M";
  let text = "";
  for (const [at, value] of points) {
    if (value === null) {
      pen = "M";
      continue;
    }
    text += `${pen}${x(at).toFixed(1)} ${y(value).toFixed(1)}`;
    pen = "L";
  }
  return text;
}

/** What the curves mean. */
export function legend(entries) {
  return h("div.legend", {}, ...entries.map(([kind, text]) => h("span", {}, h(`i${kind ? `.${kind}` : ""}`), text)));
}
