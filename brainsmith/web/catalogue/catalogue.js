// The pages read without this script; it adds search and filters to the index, and keys to all pages.
"use strict";
(() => {
  const make = (name, attributes = {}, ...children) => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  };
  const form = document.querySelector(".finder"), search = form.querySelector("input");

  // "/" leads to the search from everywhere but a field.
  addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("input:not([type=checkbox]), textarea, select")) return;
    event.preventDefault();
    search.focus();
    search.select();
  });

  // A table that is wider than its frame says so.
  document.querySelectorAll(".scroll.wide").forEach((frame) => {
    const update = () => frame.classList.toggle("overflows", frame.scrollWidth > frame.clientWidth + 1);
    new ResizeObserver(update).observe(frame);
    update();
  });

  const block = document.getElementById("catalogue-data");
  if (!block) return;

  const FACETS = [["type", "Type"], ["framework", "Framework"], ["backend", "Backend"], ["stage", "Stage"], ["kernel", "Kernel"], ["license", "Licence"]];
  const PLACES = { type: 0, framework: 1, stage: 2, kernel: 3, backend: 4, license: 5 };
  const list = document.getElementById("plugins");
  if (!list) return;
  // "InferPadLayer" is found by "pad", too.
  const parts = (name) => name.replace(/([a-z0-9])([A-Z])/g, "$1 $2").replace(/([A-Z]+)([A-Z][a-z])/g, "$1 $2").toLowerCase().split(/[^a-z0-9]+/).filter(Boolean);
  const facts = JSON.parse(block.textContent);
  const plugins = [...list.children].map((row, at) => {
    const link = row.querySelector("a"), about = row.querySelector(".row-about")?.textContent.toLowerCase() ?? "";
    const name = link.textContent;
    const values = Object.fromEntries(FACETS.map(([facet]) => [facet, [].concat(facts[at][PLACES[facet]]).filter(Boolean)]));
    return { row, link, at, name, lower: name.toLowerCase(), parts: parts(name), about, words: facts[at][6], facts: facts[at], values };
  });

  // How well a word fits a plugin; 0 if it does not.
  const fit = (plugin, word) => {
    if (plugin.lower === word) return 100;
    if (plugin.lower.startsWith(word)) return 60;
    if (plugin.parts.some((part) => part.startsWith(word))) return 40;
    if (plugin.lower.includes(word)) return 30;
    if (plugin.about.includes(word)) return 12;
    if (plugin.facts[0].startsWith(word) || plugin.facts[1].startsWith(word)) return 8;
    return plugin.words.includes(word) ? 4 : 0;
  };
  const score = (plugin, words) => {
    let total = 0;
    for (const word of words) {
      const one = fit(plugin, word);
      if (!one) return 0;
      total += one;
    }
    return total;
  };

  const chosen = Object.fromEntries(FACETS.map(([facet]) => [facet, new Set()]));
  const boxes = Object.fromEntries(FACETS.map(([facet]) => [facet, new Map()]));
  const count = (number, one) => `${number.toLocaleString("en")} ${one}${number === 1 ? "" : "s"}`;

  // What the address says: index.html#q=pad&type=kernel&type=backend, or ?q=pad from another page.
  const read = () => {
    const asked = new URLSearchParams(location.hash.slice(1));
    if (!asked.has("q") && !location.hash) asked.set("q", new URLSearchParams(location.search).get("q") ?? "");
    search.value = asked.get("q") ?? "";
    FACETS.forEach(([facet]) => {
      chosen[facet] = new Set(asked.getAll(facet));
    });
    FACETS.forEach(([facet]) => boxes[facet].forEach((box, value) => {
      box.input.checked = chosen[facet].has(value);
    }));
  };
  const write = () => {
    const asked = new URLSearchParams();
    if (search.value.trim()) asked.set("q", search.value.trim());
    FACETS.forEach(([facet]) => chosen[facet].forEach((value) => asked.append(facet, value)));
    const hash = asked.toString();
    history.replaceState(null, "", hash ? `#${hash}` : location.pathname.split("/").pop() || "index.html");
  };

  const status = document.getElementById("found"), none = document.getElementById("none"), tokens = document.getElementById("chosen");
  let shown = plugins, order = plugins.map((plugin) => plugin.at).join();

  const passes = (plugin, except) =>
    FACETS.every(([facet]) => facet === except || !chosen[facet].size || plugin.values[facet].some((value) => chosen[facet].has(value)));

  const update = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const scored = plugins.map((plugin) => [words.length ? score(plugin, words) : 1, plugin]).filter(([points]) => points);
    shown = scored.filter(([, plugin]) => passes(plugin)).sort((a, b) => b[0] - a[0] || a[1].at - b[1].at).map(([, plugin]) => plugin);
    const key = shown.map((plugin) => plugin.at).join();
    if (key !== order) show();
    order = key;
    recount(scored.map(([, plugin]) => plugin));
    describe(words);
    mark(words);
  };

  // The rows that can be seen come at once, the others when nobody types: a key costs as little as a screen.
  const SCREEN = 40, PAUSE = 120;
  let pause = 0;
  const show = () => {
    clearTimeout(pause);
    list.replaceChildren(...shown.slice(0, SCREEN).map((plugin) => plugin.row));
    pause = setTimeout(complete, PAUSE);
  };
  const complete = () => {
    clearTimeout(pause);
    list.append(...shown.slice(list.children.length).map((plugin) => plugin.row));
  };

  const recount = (found) => {
    FACETS.forEach(([facet]) => {
      const totals = new Map();
      for (const plugin of found) {
        if (!passes(plugin, facet)) continue;
        for (const value of plugin.values[facet]) totals.set(value, (totals.get(value) ?? 0) + 1);
      }
      boxes[facet].forEach((box, value) => {
        const total = totals.get(value) ?? 0;
        if (box.total === total) return;
        box.total = total;
        box.amount.textContent = total;
        box.label.classList.toggle("empty", !total);
      });
    });
  };

  const describe = (words) => {
    const active = FACETS.flatMap(([facet, title]) => [...chosen[facet]].map((value) => [facet, title, value]));
    const filtered = words.length || active.length;
    status.textContent = filtered ? `${shown.length.toLocaleString("en")} of ${count(plugins.length, "plugin")}` : count(plugins.length, "plugin");
    const buttons = active.map(([facet, title, value]) => {
      const button = make("button", { type: "button", "aria-label": `Remove the filter ${title} ${value}` }, value, make("span", { "aria-hidden": "true" }, "×"));
      button.addEventListener("click", () => choose(facet, value, false));
      return button;
    });
    if (filtered) {
      const clear = make("button", { type: "button", class: "clear" }, "Clear all");
      clear.addEventListener("click", reset);
      buttons.push(clear);
    }
    tokens.replaceChildren(...buttons);
    none.hidden = shown.length > 0;
    if (!shown.length) none.replaceChildren(make("p", {}, "No plugin has all of this."), ...closest(words));
  };

  // Of names by pairs of letters: "streemline" is close to "Streamline".
  const pairs = (text) => new Set(Array.from({ length: Math.max(0, text.length - 1) }, (_, at) => text.slice(at, at + 2)));
  const closest = (words) => {
    const wanted = pairs(words.join(""));
    if (!wanted.size) return [];
    const likeness = (plugin) => {
      const own = pairs(plugin.lower);
      return (2 * [...wanted].filter((pair) => own.has(pair)).length) / (wanted.size + own.size);
    };
    const near = plugins.map((plugin) => [likeness(plugin), plugin]).filter(([like]) => like > 0.45).sort((a, b) => b[0] - a[0] || a[1].at - b[1].at).slice(0, 5);
    if (!near.length) return [];
    const links = near.map(([, plugin]) => make("li", {}, make("a", { href: plugin.link.getAttribute("href") }, plugin.name), ` (${plugin.facts[0]} of ${plugin.facts[1]})`));
    return [make("p", {}, "Close names:"), make("ul", {}, ...links)];
  };

  // What was found is marked without a change of the page, where the browser can.
  const mark = (words) => {
    if (!window.Highlight) return;
    const found = new Highlight();
    if (words.length) {
      for (const plugin of shown.slice(0, 80)) {
        for (const node of [plugin.link.firstChild, plugin.row.querySelector(".row-about")?.firstChild]) {
          const text = node?.textContent.toLowerCase() ?? "";
          if (text.length !== node?.length) continue;
          for (const word of words) {
            const at = text.indexOf(word);
            if (at < 0) continue;
            const range = new Range();
            range.setStart(node, at);
            range.setEnd(node, at + word.length);
            found.add(range);
          }
        }
      }
    }
    CSS.highlights.set("found", found);
  };

  const choose = (facet, value, on) => {
    if (on) chosen[facet].add(value);
    else chosen[facet].delete(value);
    const box = boxes[facet].get(value);
    if (box) box.input.checked = on;
    write();
    update();
  };
  const reset = () => {
    search.value = "";
    FACETS.forEach(([facet]) => {
      chosen[facet].clear();
      boxes[facet].forEach((box) => {
        box.input.checked = false;
      });
    });
    write();
    update();
    search.focus();
  };

  const addFilters = () => {
    const groups = FACETS.map(([facet, title]) => {
      const totals = new Map();
      plugins.forEach((plugin) => plugin.values[facet].forEach((value) => totals.set(value, (totals.get(value) ?? 0) + 1)));
      if (totals.size < 2) return null;
      const names = [...totals.keys()];
      if (facet === "type") names.sort((a, b) => plugins.findIndex((plugin) => plugin.facts[0] === a) - plugins.findIndex((plugin) => plugin.facts[0] === b));
      else if (facet === "kernel") names.sort((a, b) => a.toLowerCase().localeCompare(b.toLowerCase(), "en"));
      else names.sort((a, b) => totals.get(b) - totals.get(a) || (a < b ? -1 : 1));
      const labels = names.map((value) => {
        const input = make("input", { type: "checkbox" }), amount = make("span", { class: "amount" });
        const label = make("label", {}, input, make("span", { class: "value" }, value), amount);
        input.addEventListener("change", () => choose(facet, value, input.checked));
        boxes[facet].set(value, { input, amount, label });
        return label;
      });
      return make("fieldset", { class: names.length > 8 ? "many" : "few" }, make("legend", {}, title), make("div", {}, ...labels));
    });
    const details = make("details", {}, make("summary", {}, "Filters"), ...groups.filter(Boolean));
    const narrow = matchMedia("(max-width: 860px)");
    const fold = () => {
      details.open = !narrow.matches;
    };
    narrow.addEventListener("change", fold);
    fold();
    const filters = document.getElementById("filters");
    filters.append(details);
    filters.hidden = false;
  };

  const addKeys = () => {
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (search.value.trim() && shown.length) location.href = shown[0].link.href;
    });
    let written = 0;
    search.addEventListener("input", () => {
      update();
      clearTimeout(written);
      written = setTimeout(write, PAUSE);
    });
    search.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && search.value) {
        event.preventDefault();
        search.value = "";
        write();
        update();
      } else if (event.key === "ArrowDown" && shown.length) {
        event.preventDefault();
        shown[0].link.focus();
      }
    });
    list.addEventListener("keydown", (event) => {
      const at = shown.findIndex((plugin) => plugin.link === document.activeElement);
      if (at < 0) return;
      complete();
      if (event.key === "Escape") search.focus();
      else if (event.key === "ArrowDown") shown[Math.min(at + 1, shown.length - 1)].link.focus();
      else if (event.key === "ArrowUp") (at ? shown[at - 1].link : search).focus();
      else return;
      event.preventDefault();
    });
    addEventListener("hashchange", () => {
      read();
      update();
    });
  };

  addFilters();
  addKeys();
  read();
  update();
})();
