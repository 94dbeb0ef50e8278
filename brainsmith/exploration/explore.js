// The page reads without this script; it adds the plots, the filters, sorting, and what is known of a point that is chosen.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("exploration").textContent);
  const { columns, rows, cloud } = data;
  const SVG = "http://www.w3.org/2000/svg", WIDTH = 960, HEIGHT = 460, PAD = 58;
  const draw = (name, attributes, ...children) => {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  };
  const make = (name, attributes, ...children) => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  };
  const shown = (value) => typeof value === "number" ? Number(value.toPrecision(6)).toLocaleString("en") : value === null ? "–" : String(value);

  // The scale of a column: where a value is between 0 and 1, and what stands at both ends.
  class Scale {
    constructor(at) {
      this.at = at;
      const all = [...rows, ...cloud].map((row) => row.values[at]).filter((value) => value !== null);
      this.isNumber = all.every((value) => typeof value === "number");
      this.words = this.isNumber ? [] : columns[at].values.map(String);
      this.low = this.isNumber ? Math.min(...all) : 0;
      this.high = this.isNumber ? Math.max(...all) : Math.max(this.words.length - 1, 0);
      this.isLog = this.isNumber && this.low > 0 && this.high / this.low > 50;
    }

    place(value) {
      if (value === null) return null;
      const number = this.isNumber ? value : this.words.indexOf(String(value));
      if (this.high === this.low) return 0.5;
      return this.isLog ? Math.log(number / this.low) / Math.log(this.high / this.low) : (number - this.low) / (this.high - this.low);
    }

    ticks() {
      if (!this.isNumber) return this.words.map((word) => [this.place(word), word]);
      if (this.high === this.low) return [[0.5, shown(this.low)]];
      return [0, 0.25, 0.5, 0.75, 1].map((part) => {
        const value = this.isLog ? this.low * (this.high / this.low) ** part : this.low + part * (this.high - this.low);
        return [part, shown(Number(value.toPrecision(3)))];
      });
    }
  }
  const scales = columns.map((_, at) => new Scale(at));
  const filters = new Map();  // by column, the ends of what is let through
  let chosen = null;
  const passes = (row) => [...filters].every(([at, [low, high]]) => {
    const place = scales[at].place(row.values[at]);
    return place !== null && place >= low - 1e-9 && place <= high + 1e-9;
  });

  const store = (key, value) => { try { sessionStorage.setItem(location.pathname + key, JSON.stringify(value)); } catch { /* a page may have none */ } };
  const stored = (key) => { try { return JSON.parse(sessionStorage.getItem(location.pathname + key)); } catch { return null; } };

  // Points over two or three axes; three can be turned.
  const Front = {
    svg: document.getElementById("front-plot"), turn: { yaw: 0.6, pitch: 0.45 },
    axes() { return ["x", "y", "z"].map((key) => document.getElementById(`axis-${key}`).value).map((value) => value === "" ? null : Number(value)); },

    project(place, deep) {
      if (!deep) return [PAD + place[0] * (WIDTH - 2 * PAD), HEIGHT - PAD - place[1] * (HEIGHT - 2 * PAD)];
      const [x, y, z] = place.map((part) => part - 0.5), { yaw, pitch } = this.turn;
      const right = x * Math.cos(yaw) - z * Math.sin(yaw), depth = x * Math.sin(yaw) + z * Math.cos(yaw);
      const up = y * Math.cos(pitch) - depth * Math.sin(pitch), size = HEIGHT * 0.55;
      return [WIDTH / 2 + right * size, HEIGHT / 2 - up * size];
    },

    frame(axes, deep) {
      const parts = [];
      const line = (from, to, kind) => {
        const [a, b] = [this.project(from, deep), this.project(to, deep)];
        parts.push(draw("line", { x1: a[0], y1: a[1], x2: b[0], y2: b[1], class: kind }));
      };
      if (deep) {
        for (const [u, v] of [[0, 0], [0, 1], [1, 0], [1, 1]]) { line([0, u, v], [1, u, v], "grid"); line([u, 0, v], [u, 1, v], "grid"); line([u, v, 0], [u, v, 1], "grid"); }
        axes.forEach((at, number) => {
          const end = [0, 0, 0];
          end[number] = 1;
          line([0, 0, 0], end, "axis");
          end[number] = 1.08;
          const [x, y] = this.project(end, true), scale = scales[at], ends = scale.ticks();
          parts.push(draw("text", { x, y, class: "title", "text-anchor": "middle" }, `${columns[at].name} → ${ends[ends.length - 1][1]}`));
        });
        return parts;
      }
      line([0, 0], [1, 0], "axis");
      line([0, 0], [0, 1], "axis");
      for (const [part, text] of scales[axes[0]].ticks()) {
        const [x, y] = this.project([part, 0], false);
        line([part, 0], [part, 1], "grid");
        parts.push(draw("text", { x, y: y + 18, "text-anchor": "middle" }, text));
      }
      for (const [part, text] of scales[axes[1]].ticks()) {
        const [x, y] = this.project([0, part], false);
        line([0, part], [1, part], "grid");
        parts.push(draw("text", { x: x - 8, y: y + 4, "text-anchor": "end" }, text));
      }
      parts.push(draw("text", { x: WIDTH - PAD, y: HEIGHT - 14, class: "title", "text-anchor": "end" }, columns[axes[0]].name));
      parts.push(draw("text", { x: 12, y: 24, class: "title" }, columns[axes[1]].name));
      return parts;
    },

    render() {
      const all = this.axes(), axes = all.filter((at) => at !== null), deep = all[2] !== null;
      this.svg.classList.toggle("turns", deep);
      const parts = this.frame(axes, deep);
      const dot = (row, kind, radius) => {
        const place = axes.map((at) => scales[at].place(row.values[at]));
        if (place.includes(null) || !passes(row)) return;
        const [cx, cy] = this.project(place, deep);
        const circle = draw("circle", { cx, cy, r: radius, class: kind });
        if (row.number !== undefined) {
          circle.dataset.number = row.number;
          circle.append(draw("title", {}, row.label));
          circle.addEventListener("click", () => choose(row.number));
        }
        parts.push(circle);
      };
      for (const row of cloud) dot(row, "cloud", 2.5);
      for (const row of rows) if (!row.front) dot(row, "built", 5);
      for (const row of rows) if (row.front) dot(row, "built best", 6.5);
      this.svg.replaceChildren(...parts);
      mark();
    },

    listen() {
      for (const key of ["x", "y", "z"]) document.getElementById(`axis-${key}`).addEventListener("change", () => { store("axes", this.axes()); this.render(); });
      let from = null;
      this.svg.addEventListener("pointerdown", (event) => { from = [event.clientX, event.clientY]; });
      this.svg.addEventListener("pointermove", (event) => {
        if (from === null || this.axes()[2] === null) return;
        this.turnBy((event.clientX - from[0]) / 150, (event.clientY - from[1]) / 150);
        from = [event.clientX, event.clientY];
      });
      for (const end of ["pointerup", "pointerleave"]) this.svg.addEventListener(end, () => { from = null; });
      const STEPS = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, -0.1], ArrowDown: [0, 0.1] };
      this.svg.addEventListener("keydown", (event) => {
        if (!(event.key in STEPS) || this.axes()[2] === null) return;
        event.preventDefault();
        this.turnBy(...STEPS[event.key]);
      });
    },

    turnBy(yaw, pitch) {
      this.turn.yaw += yaw;
      this.turn.pitch = Math.max(-1.5, Math.min(1.5, this.turn.pitch + pitch));
      store("turn", this.turn);
      this.render();
    },
  };

  // Each point as a line over all axes; what is marked on an axis lets its points through, here and everywhere.
  const Ways = {
    svg: document.getElementById("ways-plot"), axes: columns.map((_, at) => at).filter((at) => columns[at].known),
    x(number) { return PAD + number * (WIDTH - 2 * PAD) / Math.max(this.axes.length - 1, 1); },
    y(place) { return HEIGHT - 40 - place * (HEIGHT - 90); },

    render() {
      const parts = [];
      for (const row of [...rows].sort((one, other) => one.front - other.front)) {
        if (!passes(row) || row.state !== "done") continue;
        const places = this.axes.map((at) => scales[at].place(row.values[at]));
        const points = places.map((place, number) => place === null ? null : `${this.x(number).toFixed(1)},${this.y(place).toFixed(1)}`).filter((point) => point !== null);
        const line = draw("polyline", { points: points.join(" "), class: row.front ? "way best" : "way" }, draw("title", {}, row.label));
        line.dataset.number = row.number;
        line.addEventListener("click", () => choose(row.number));
        parts.push(line);
      }
      this.axes.forEach((at, number) => {
        const x = this.x(number), ticks = scales[at].ticks(), dense = ticks.length > 12;
        parts.push(draw("line", { x1: x, x2: x, y1: this.y(0), y2: this.y(1), class: "axis" }));
        parts.push(draw("text", { x, y: number % 2 ? 18 : 34, class: "title", "text-anchor": "middle" }, columns[at].name));
        ticks.filter((_, index) => !dense || index === 0 || index === ticks.length - 1).forEach(([place, text]) =>
          parts.push(draw("text", { x: x + (number === this.axes.length - 1 ? -5 : 5), y: this.y(place) + 4, "text-anchor": number === this.axes.length - 1 ? "end" : "start" }, text)));
        if (filters.has(at)) {
          const [low, high] = filters.get(at);
          parts.push(draw("rect", { x: x - 9, width: 18, y: this.y(high) - 3, height: this.y(low) - this.y(high) + 6, class: "brush" }));
        }
        const handle = draw("rect", { x: x - 14, width: 28, y: this.y(1) - 6, height: this.y(0) - this.y(1) + 12, class: "handle" });
        handle.dataset.axis = at;
        parts.push(handle);
      });
      this.svg.replaceChildren(...parts);
      mark();
    },

    place(event) {
      const frame = this.svg.getBoundingClientRect(), y = (event.clientY - frame.top) * HEIGHT / frame.height;
      return Math.max(0, Math.min(1, (HEIGHT - 40 - y) / (HEIGHT - 90)));
    },

    listen() {
      let axis = null, from = 0;
      this.svg.addEventListener("pointerdown", (event) => {
        if (event.target.dataset.axis === undefined) return;
        axis = Number(event.target.dataset.axis);
        from = this.place(event);
      });
      this.svg.addEventListener("pointerup", (event) => {
        if (axis === null) return;
        const to = this.place(event);
        filter(axis, Math.abs(to - from) < 0.02 ? null : [Math.min(from, to), Math.max(from, to)]);
        axis = null;
      });
    },
  };

  function filter(at, ends) {
    if (ends === null) filters.delete(at); else filters.set(at, ends);
    store("filters", [...filters]);
    everything();
  }

  function everything() {
    Front.render();
    Ways.render();
    let count = 0;
    for (const row of rows) {
      const element = document.getElementById(`point-${row.number}`), there = passes(row);
      if (element) element.hidden = !there;
      count += there;
    }
    document.getElementById("filtered").textContent = filters.size ? `${count} of ${rows.length} points; filters on ${[...filters.keys()].map((at) => columns[at].name).join(", ")}` : `${rows.length} points`;
    document.getElementById("no-filters").hidden = !filters.size;
  }

  function mark() {
    for (const element of document.querySelectorAll("[data-number]")) element.classList.toggle("chosen", Number(element.dataset.number) === chosen);
    for (const row of document.querySelectorAll("tr.chosen")) row.classList.remove("chosen");
    if (chosen !== null) document.getElementById(`point-${chosen}`)?.classList.add("chosen");
  }

  function choose(number) {
    chosen = number;
    store("chosen", number);
    const row = rows[number], place = document.getElementById("chosen-point");
    const facts = columns.map((column, at) => [column.name, row.values[at]]).filter(([, value]) => value !== null);
    const parts = [make("p", {}, make("strong", {}, `${row.state}, ${row.fidelity}: `), facts.map(([name, value]) => `${name} ${shown(value)}`).join(", "))];
    if (row.reason) parts.push(make("p", {}, row.reason));
    if (row.report) parts.push(make("p", {}, make("a", { href: row.report }, "report of this point")));
    if (row.command) {
      const button = make("button", { type: "button" }, "Copy");
      button.addEventListener("click", () => { navigator.clipboard?.writeText(row.command); button.textContent = "Copied"; });
      parts.push(make("p", {}, make("code", {}, row.command), " ", button));
    }
    place.replaceChildren(...parts);
    place.hidden = false;
    mark();
  }

  // A click on a heading sorts the table, one more turns it round.
  const table = document.querySelector("#points table");
  table?.querySelectorAll("thead th").forEach((heading, at) => {
    const button = make("button", { type: "button", title: "Sort" }, heading.textContent);
    heading.replaceChildren(button);
    button.addEventListener("click", () => {
      const down = heading.getAttribute("aria-sort") === "ascending";
      table.querySelectorAll("[aria-sort]").forEach((other) => other.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", down ? "descending" : "ascending");
      const key = (row) => { const cell = row.children[at]; return cell.dataset.order === undefined ? cell.textContent : Number(cell.dataset.order); };
      const compare = (one, other) => { const [a, b] = [key(one), key(other)]; return typeof a === typeof b ? (a < b ? -1 : a > b ? 1 : 0) : typeof a === "number" ? -1 : 1; };
      const sorted = [...table.tBodies[0].rows].sort(compare);
      table.tBodies[0].append(...(down ? sorted.reverse() : sorted));
    });
  });
  for (const row of rows) document.getElementById(`point-${row.number}`)?.addEventListener("click", () => choose(row.number));
  document.getElementById("no-filters").addEventListener("click", () => { filters.clear(); store("filters", []); everything(); });

  const axes = stored("axes");
  if (axes) ["x", "y", "z"].forEach((key, number) => { document.getElementById(`axis-${key}`).value = axes[number] ?? ""; });
  Object.assign(Front.turn, stored("turn") ?? {});
  for (const [at, ends] of stored("filters") ?? []) if (at < columns.length) filters.set(at, ends);
  for (const element of document.querySelectorAll("[data-live]")) element.hidden = false;
  Front.listen();
  Ways.listen();
  everything();
  const last = stored("chosen");
  if (last !== null && last < rows.length) choose(last);
  if (data.runs) setTimeout(() => location.reload(), 3000);
})();
