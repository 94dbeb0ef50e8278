// The page reads without this script; it adds zooming, searching and details to the graphs, sorting to the tables.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("graph-data").textContent);
  const make = (name, attributes, ...children) => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  };
  const LEAST = 0.05, MOST = 3, DRAG = 4;

  // What is larger than its frame: zoomed by buttons, keys and the wheel, dragged by the mouse.
  class ZoomView {
    constructor(key, canvas, content, size) {
      Object.assign(this, { key, canvas, content, size, zoom: 1 });
      this.canvas.classList.add("live");
      this.addPointer();
      this.addKeys();
    }

    button(label, text, action) {
      const element = make("button", { type: "button", title: label }, text);
      if (text.length === 1) {
        element.className = "sign";
        element.setAttribute("aria-label", label);
      }
      element.addEventListener("click", action);
      return element;
    }

    addTools(what, before = [], after = []) {
      const tools = document.querySelector(`[data-tools="${this.key}"]`);
      tools.append(...before, this.button("Zoom out", "−", () => this.scale(1 / 1.25)), this.button("Zoom in", "+", () => this.scale(1.25)),
        this.button(`Show the whole ${what}, or its real size again`, "Fit", () => this.fit()), ...after);
      tools.hidden = false;
    }

    scale(factor, at) {
      const zoom = Math.min(MOST, Math.max(LEAST, this.zoom * factor));
      const frame = this.canvas.getBoundingClientRect();
      const x = at ? at.clientX - frame.left : frame.width / 2, y = at ? at.clientY - frame.top : frame.height / 2;
      const ratio = zoom / this.zoom;
      const left = (this.canvas.scrollLeft + x) * ratio - x, top = (this.canvas.scrollTop + y) * ratio - y;
      this.zoom = zoom;
      this.content.setAttribute("width", Math.round(this.size.width * zoom));
      this.content.setAttribute("height", Math.round(this.size.height * zoom));
      this.canvas.scrollLeft = left;
      this.canvas.scrollTop = top;
    }

    whole() {
      return Math.min(this.canvas.clientWidth / this.size.width, this.canvas.clientHeight / this.size.height, 1);
    }

    fit() {
      const whole = this.whole();
      this.scale((Math.abs(this.zoom - whole) < 0.01 ? 1 : whole) / this.zoom);
    }

    addPointer() {
      let from = null;
      this.canvas.addEventListener("pointerdown", (event) => {
        if (event.button === 0 && event.pointerType === "mouse") {
          from = { x: event.clientX, y: event.clientY, left: this.canvas.scrollLeft, top: this.canvas.scrollTop, moved: false };
        }
      });
      window.addEventListener("pointermove", (event) => {
        if (!from) return;
        const x = event.clientX - from.x, y = event.clientY - from.y;
        from.moved ||= Math.hypot(x, y) > DRAG;
        if (!from.moved) return;
        this.canvas.classList.add("dragging");
        this.canvas.scrollLeft = from.left - x;
        this.canvas.scrollTop = from.top - y;
      });
      window.addEventListener("pointerup", () => {
        if (from && from.moved) this.dragged = true;
        from = null;
        this.canvas.classList.remove("dragging");
      });
      this.canvas.addEventListener("click", (event) => {
        const dragged = this.dragged;
        this.dragged = false;
        if (dragged) return;
        this.clicked(event.target);
      });
      this.canvas.addEventListener("wheel", (event) => {
        if (!event.ctrlKey && !event.metaKey) return;
        event.preventDefault();
        this.scale(Math.exp(-event.deltaY / 300), event);
      }, { passive: false });
    }

    addKeys() {
      this.canvas.addEventListener("keydown", (event) => {
        if (event.key === "+" || event.key === "=") this.scale(1.25);
        else if (event.key === "-") this.scale(1 / 1.25);
        else if (event.key === "0") this.fit();
        else if (!this.pressed(event.key)) return;
        event.preventDefault();
      });
    }

    clicked() {}

    pressed() {
      return false;
    }
  }

  class WaveView extends ZoomView {
    constructor(canvas) {
      const image = canvas.querySelector("img");
      super("wave", canvas, image, { width: Number(image.getAttribute("width")), height: Number(image.getAttribute("height")) });
      image.draggable = false;
      this.addTools("picture");
      if (canvas.clientWidth > 0.7 * this.size.width) this.fit();
    }

    // All of the time is what counts; rows that are out of sight are scrolled to.
    whole() {
      return Math.min(this.canvas.clientWidth / this.size.width, 1);
    }
  }

  class CircuitView extends ZoomView {
    constructor(canvas) {
      const svg = canvas.querySelector("svg");
      super("circuit", canvas, svg, svg.viewBox.baseVal);
      this.addTools("circuit");
      canvas.scrollLeft = (svg.viewBox.baseVal.width - canvas.clientWidth) / 2;
    }
  }

  class GraphView extends ZoomView {
    constructor(key) {
      const canvas = document.querySelector(`[data-graph="${key}"]`), svg = canvas.querySelector("svg");
      super(key, canvas, svg, svg.viewBox.baseVal);
      this.nodes = data[key].nodes;
      this.edges = data[key].edges;
      this.panel = document.querySelector(`[data-details="${key}"]`);
      this.shapes = this.nodes.map((_, i) => document.getElementById(`${key}-${i}`));
      this.paths = new Map([...svg.querySelectorAll(".edge")].map((path) => [Number(path.dataset.edge), path]));
      this.chosen = null;
      this.addGraphTools();
      const first = this.shapes[this.start()];
      this.shapes.forEach((shape) => shape.setAttribute("role", "button"));
      this.hold(this.start());
      this.canvas.scrollLeft = first ? this.centre(first).x - this.canvas.clientWidth / 2 : 0;
    }

    start() {
      const fed = new Set(this.edges.map((edge) => edge[1]));
      const input = this.shapes.findIndex((shape, i) => shape.classList.contains("port") && !fed.has(i));
      return Math.max(0, input);
    }

    centre(shape) {
      const box = shape.getBoundingClientRect(), frame = this.canvas.getBoundingClientRect();
      return {
        x: box.left + box.width / 2 - frame.left + this.canvas.scrollLeft,
        y: box.top + box.height / 2 - frame.top + this.canvas.scrollTop,
      };
    }

    addGraphTools() {
      const search = make("input", { type: "search", placeholder: "Find a node", "aria-label": "Find a node by name or operator" });
      this.found = make("span", { class: "found", role: "status" });
      search.addEventListener("input", () => this.find(search.value));
      search.addEventListener("keydown", (event) => {
        if (event.key === "Enter") this.step(event.shiftKey ? -1 : 1);
      });
      const wide = this.button("Give this graph the whole width", "Widen", () => this.widen(wide));
      wide.setAttribute("aria-pressed", "false");
      wide.className = "widen";
      this.addTools("graph", [this.found, search], [wide]);
    }

    widen(button) {
      const pair = this.canvas.closest(".pair"), pressed = pair.classList.toggle(`wide-${this.key}`);
      button.setAttribute("aria-pressed", String(pressed));
      this.canvas.closest("figure").scrollIntoView({ block: "nearest" });
    }

    clicked(target) {
      const shape = target.closest(".node");
      this.choose(shape ? this.shapes.indexOf(shape) : null);
      if (shape) this.hold(this.shapes.indexOf(shape));
    }

    pressed(key) {
      const node = this.shapes.indexOf(document.activeElement);
      if (key === "Escape") this.choose(null);
      else if (node < 0) return false;
      else if (key === "Enter" || key === " ") this.choose(node);
      else if (key.startsWith("Arrow")) this.move(node, key.slice(5));
      else return false;
      return true;
    }

    move(node, direction) {
      const to = direction === "Down" ? this.edges.find((edge) => edge[0] === node)?.[1]
        : direction === "Up" ? this.edges.find((edge) => edge[1] === node)?.[0]
        : this.beside(node, direction === "Left" ? -1 : 1);
      if (to !== undefined) this.focus(to);
    }

    beside(node, side) {
      const [row, x] = this.nodes[node].at;
      const near = this.nodes.map((other, i) => [(other.at[1] - x) * side, i, other.at[0]]).filter(([gap, , at]) => at === row && gap > 0);
      return near.sort((a, b) => a[0] - b[0])[0]?.[1];
    }

    // One node at a time can be reached with Tab, the arrow keys lead to the others.
    hold(node) {
      this.shapes.forEach((shape, i) => shape.setAttribute("tabindex", i === node ? "0" : "-1"));
    }

    focus(node) {
      this.hold(node);
      this.shapes[node].focus({ preventScroll: true });
      this.reveal(node);
    }

    reveal(node) {
      const at = this.centre(this.shapes[node]);
      this.canvas.scrollTo({ left: at.x - this.canvas.clientWidth / 2, top: at.y - this.canvas.clientHeight / 2 });
    }

    find(words) {
      const wanted = words.trim().toLowerCase();
      const hit = (node) => [node.title, ...node.rows.map((row) => row[1])].some((text) => text.toLowerCase().includes(wanted));
      this.matches = wanted ? this.nodes.flatMap((node, i) => (hit(node) ? [i] : [])) : [];
      this.matches.sort((a, b) => this.nodes[a].at[0] - this.nodes[b].at[0]);
      const set = new Set(this.matches);
      this.shapes.forEach((shape, i) => shape.classList.toggle("match", set.has(i)));
      this.position = -1;
      this.found.textContent = !wanted ? "" : this.matches.length ? `${this.matches.length} found` : "none";
      if (this.matches.length) this.reveal(this.matches[0]);
    }

    step(by) {
      if (!this.matches?.length) return;
      this.position = (this.position + by + this.matches.length) % this.matches.length;
      this.found.textContent = `${this.position + 1} of ${this.matches.length}`;
      this.choose(this.matches[this.position]);
      this.reveal(this.matches[this.position]);
    }

    choose(node) {
      this.chosen = node;
      const lit = new Set(), near = new Set();
      this.edges.forEach(([source, target], i) => {
        if (node === null || (source !== node && target !== node)) return;
        lit.add(i);
        near.add(source).add(target);
      });
      this.paths.forEach((path, i) => path.classList.toggle("lit", lit.has(i)));
      this.shapes.forEach((shape, i) => {
        shape.classList.toggle("chosen", i === node);
        shape.classList.toggle("near", near.has(i));
      });
      this.panel.hidden = node === null;
      if (node !== null) this.panel.replaceChildren(...this.describe(node));
    }

    describe(node) {
      const { title, rows, layer } = this.nodes[node];
      const close = make("button", { type: "button" }, "Close");
      close.addEventListener("click", () => this.choose(null));
      const list = make("dl", {}, ...rows.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]));
      list.append(...this.neighbours("Takes", node, 1, 0), ...this.neighbours("Gives to", node, 0, 1));
      if (layer !== null) list.append(make("dt", {}, "Table"), make("dd", {}, make("a", { href: `#layer-${layer}` }, "Row in the table of layers")));
      return [make("header", {}, make("h3", {}, title), close), list];
    }

    neighbours(label, node, own, other) {
      const edges = this.edges.filter((edge) => edge[own] === node);
      if (!edges.length) return [];
      const links = edges.map((edge) => {
        const [name] = this.nodes[edge[other]].rows.find((row) => row[0] === "Name")?.slice(1) ?? [this.nodes[edge[other]].title];
        const link = make("button", { type: "button", class: "link" }, name);
        link.addEventListener("click", () => {
          this.choose(edge[other]);
          this.focus(edge[other]);
        });
        const tensor = edge.slice(2).filter(Boolean).join("  ");
        return make("li", {}, link, tensor ? ` (${tensor})` : "");
      });
      return [make("dt", {}, label), make("dd", {}, make("ul", {}, ...links))];
    }
  }

  // The table of layers leads to nodes by their ids, as does an address that someone was sent.
  const followLink = (views) => {
    const [, key, node] = location.hash.match(/^#(before|after)-(\d+)$/) ?? [];
    const view = views.find((candidate) => candidate.key === key);
    if (!view?.shapes[node]) return;
    view.choose(Number(node));
    view.focus(Number(node));
    view.canvas.scrollIntoView({ block: "center" });
  };

  // "layer_2" comes before "layer_10".
  const words = new Intl.Collator("en", { numeric: true });

  const sortable = (table) => {
    const body = table.tBodies[0];
    if (body.rows.length < 3) return;
    const value = (row, column) => {
      const cell = row.cells[column];
      const text = cell.dataset.order ?? cell.textContent;
      const number = Number(text.replaceAll(",", ""));
      const counted = cell.classList.contains("number") || cell.dataset.order !== undefined;
      return counted ? (text === "–" || Number.isNaN(number) ? -Infinity : number) : text;
    };
    const compare = (a, b) => (typeof a === "string" ? words.compare(a, b) : a < b ? -1 : a > b ? 1 : 0);
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      const button = make("button", { type: "button", title: "Sort" }, head.textContent);
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
        [...table.tHead.rows[0].cells].forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", down > 0 ? "ascending" : "descending");
        body.append(...[...body.rows].sort((a, b) => down * compare(value(a, column), value(b, column))));
      });
      head.replaceChildren(button);
    });
  };

  const followSections = () => {
    const links = new Map([...document.querySelectorAll(".contents a")].map((link) => [link.hash.slice(1), link]));
    const update = () => {
      const passed = [...links.keys()].filter((id) => document.getElementById(id).getBoundingClientRect().top < 140);
      links.forEach((link, id) => {
        const here = id === (passed.at(-1) ?? "summary");
        link.classList.toggle("here", here);
        if (here) link.setAttribute("aria-current", "true");
        else link.removeAttribute("aria-current");
      });
    };
    addEventListener("scroll", update, { passive: true });
    update();
  };

  // A table that is wider than its frame says so.
  const hinted = (frame) => {
    const update = () => frame.classList.toggle("overflows", frame.scrollWidth > frame.clientWidth + 1);
    new ResizeObserver(update).observe(frame);
    update();
  };

  const views = Object.keys(data).map((key) => new GraphView(key));
  addEventListener("hashchange", () => followLink(views));
  followLink(views);
  document.querySelectorAll('[data-zoom="wave"]').forEach((canvas) => new WaveView(canvas));
  document.querySelectorAll('[data-zoom="circuit"]').forEach((canvas) => new CircuitView(canvas));
  document.querySelectorAll("table.data").forEach(sortable);
  document.querySelectorAll(".scroll.wide").forEach(hinted);
  followSections();
})();
