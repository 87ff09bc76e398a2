// Small charts: curves and bars over moves or time.

import { h, svg } from "./dom.js";

const [WIDTH, LEFT, RIGHT, TOP, BOTTOM] = [420, 36, 6, 8, 20];

/**
 * A chart with horizontal lines at `marks` [[y, text]] and the elements of `draw(x, y)`. `onPick(x)` is called with the nearest x of a
 * click. `mark(x)` of the result marks an x.
 */
function chart({ from, to, low = 0, high, marks = [], height, onPick = null, label }, draw) {
  const x = (value) => LEFT + ((value - from) / (to - from || 1)) * (WIDTH - LEFT - RIGHT);
  const y = (value) => TOP + (1 - (Math.min(high, Math.max(low, value)) - low) / (high - low || 1)) * (height - TOP - BOTTOM);
  const across = marks.flatMap(([value, text]) => [svg("line", { class: "grid", x1: LEFT, x2: WIDTH - RIGHT, y1: y(value), y2: y(value) }),
    svg("text", { x: LEFT - 6, y: y(value) + 4, "text-anchor": "end" }, text)]);
  const line = svg("line", { class: "here", y1: TOP, y2: height - BOTTOM, visibility: "hidden" });
  const element = svg("svg", { class: "chart", viewBox: `0 0 ${WIDTH} ${height}`, role: "img", "aria-label": label }, ...across, ...draw(x, y), line);
  if (onPick) {
    element.addEventListener("click", (event) => {
      const box = element.getBoundingClientRect();
      const share = (((event.clientX - box.left) / box.width) * WIDTH - LEFT) / (WIDTH - LEFT - RIGHT);
      onPick(Math.round(from + Math.min(1, Math.max(0, share)) * (to - from)));
    });
  }
  const mark = (value) => {
    line.setAttribute("visibility", "visible");
    for (const end of ["x1", "x2"]) line.setAttribute(end, x(value));
  };
  return { element, mark };
}

/** Curves of points [x, y], with texts [x, text, anchor] `below`; the first curve is filled down to the value `area`. */
export function curves({ series, below = [], height = 160, area = null, ...axes }) {
  return chart({ height, ...axes }, (x, y) => {
    const texts = below.map(([value, text, anchor]) => svg("text", { x: x(value), y: height - 4, "text-anchor": anchor }, text));
    const path = (points) => (points.length ? `M${points.map(([at, value]) => `${x(at).toFixed(1)} ${y(value).toFixed(1)}`).join("L")}` : "");
    const paths = series.map(({ kind = "", points }) => svg("path", { class: `curve ${kind}`, d: path(points) }));
    const [{ points }] = series;
    if (area === null || !points.length) return [...texts, ...paths];
    return [...texts, svg("path", { class: "area", d: `${path(points)}L${x(points.at(-1)[0])} ${y(area)}L${x(points[0][0])} ${y(area)}Z` }), ...paths];
  });
}

/** Bars of [x, y]. */
export function bars({ columns, height = 130, ...axes }) {
  const width = Math.max(1, (WIDTH - LEFT - RIGHT) / Math.max(1, axes.to - axes.from) - 1);
  return chart({ height, ...axes }, (x, y) => columns.map(([at, value]) =>
    svg("rect", { class: "bar", x: x(at) - width / 2, y: y(value), width, height: y(0) - y(value) })));
}

/** A legend of [class, text]. */
export function legend(entries) {
  return h("div.legend", {}, ...entries.map(([kind, text]) => h("span", {}, h(`i${kind ? `.${kind}` : ""}`), text)));
}
