"use strict";
// The browser of examples. Every text goes in as text, never as markup.
(() => {
  const data = JSON.parse(document.getElementById("payload").textContent);
  const at = id => document.getElementById(id);
  const list = at("list"), more = at("more"), count = at("count");
  const [sort, order, ofClass, correct, seed, text] = ["sort", "order", "class", "correct", "seed", "text"].map(at);
  const PAGE = 20;
  let found = [], shown = 0, linked = null;

  function make(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) if (value !== null) element.setAttribute(name, value);
    element.append(...children);
    return element;
  }
  const option = (value, words) => make("option", { value }, words);
  const number = value => value === null ? "–" : Math.abs(value) >= 0.01 || value === 0 ? value.toFixed(3) : String(Number(value.toPrecision(3)));
  const percent = p => `${(100 * p).toFixed(p > 0.995 || p < 0.005 ? 1 : 0)} %`;
  const seen = example => example.seen[seed.selectedIndex];
  const unitsOf = example => example.units === undefined ? [] : example.units.split("\t");
  const address = example => `#example=${encodeURIComponent(example.id)}`;

  // One byte for each unit: its share of the example's largest score, from -127 to 127.
  const shares = code => Array.from(atob(code), c => (c.charCodeAt(0) << 24 >> 24) / 127);

  const tint = share => share ? `rgb(var(${share < 0 ? "--neg" : "--pos"}) / calc(var(--deepest) * ${Math.abs(share).toFixed(2)}))` : "transparent";
  const marks = (name, isTop, isKnown) => [name, isTop ? "top" : "", isKnown ? "known" : ""].filter(Boolean).join(" ");

  // What a unit looks like: a word on its colour.
  function unit(word, share, isTop, isKnown, score) {
    return make("span", { class: marks("u", isTop, isKnown), style: `background: ${tint(share)}`, title: `${word}: ${number(score)}` }, word);
  }

  // Units that are images: tiles of one picture below their colours, in a square where they make one.
  const across = count => Number.isInteger(Math.sqrt(count)) ? Math.sqrt(count) : count;
  function tiles(example, says, count, tile) {
    const wide = across(count), high = count / wide, place = (at, of) => of > 1 ? `${100 * at / (of - 1)}%` : "0";
    const box = make("div", { class: "tiles", role: "img", "aria-label": says, style: `--across: ${wide}; --down: ${high}; --picture: url(data:image/png;base64,${example.picture})` });
    for (let i = 0; i < count; i++) {
      const { classes = "tile", style = "", title = null } = tile(i);
      box.append(make("span", { class: classes, title, style: `background-position: ${place(i % wide, wide)} ${place(Math.floor(i / wide), high)}; ${style}` }));
    }
    return box;
  }

  function scored(example, place) {
    const method = data.methods[place], seenNow = seen(example), code = seenNow.scores[place];
    const box = make("div", { class: "method" }, make("h4", {}, method.name));
    if (code === null) {
      box.append(make("p", { class: "effect" }, "not explained by this method"));
      return box;
    }
    const values = shares(code), largest = seenNow.largest[place] ?? 0;
    const words = unitsOf(example), known = new Set(example.rationale || []);
    const ranked = values.map((_, i) => i).sort((a, b) => values[b] - values[a]);
    const top = values.some(value => value !== values[0]) ? ranked[0] : -1;
    const named = i => words[i] ?? `unit ${i + 1}`;
    const line = example.picture
      ? tiles(example, `The units of ${example.id} by ${method.name}`, values.length, i => ({ classes: marks("tile", i === top, known.has(i)), style: `--tint: ${tint(values[i])}`, title: `${named(i)}: ${number(values[i] * largest)}` }))
      : make("p", { class: "units" });
    if (!example.picture) values.forEach((share, i) => line.append(unit(named(i), share, i === top, known.has(i), share * largest), " "));
    const best = ranked.slice(0, 3).map(i => `${words[i] ?? `unit ${i + 1}`} ${number(values[i] * largest)}`).join(", ");
    box.append(make("p", { class: "hidden" }, `Highest by ${method.name}: ${best}.`), line);
    const without = seenNow.without[place];
    if (without !== null && top >= 0) {
      const before = seenNow.p[seenNow.predicted];
      box.append(make("p", { class: "effect" }, `Without “${words[top] ?? `unit ${top + 1}`}”: ${data.labels[seenNow.predicted]} ${percent(before)} → ${percent(without)}`));
    }
    return box;
  }

  function article(example) {
    const now = seen(example), right = now.predicted === example.label;
    const says = make("p", {}, "Label ", make("b", {}, data.labels[example.label]), ", predicted ",
      make("b", {}, data.labels[now.predicted]), ` with ${percent(now.p[now.predicted])}, `,
      make("b", { class: right ? "right" : "wrong" }, right ? "✓ right" : "✗ wrong"));
    const box = make("article", { class: "example", id: `example=${example.id}`, tabindex: "-1", "aria-label": `Example ${example.id}` },
      make("header", {}, make("h3", {}, make("a", { href: address(example) }, example.id)), says));
    if (example.query) box.append(make("p", { class: "query" }, make("b", {}, "Query: "), example.query));
    const methods = make("div", { class: example.picture ? "seen pictured" : "seen" });
    if (example.picture) methods.append(make("div", { class: "method" }, make("h4", {}, "picture"), tiles(example, `The units of ${example.id}`, unitsOf(example).length, () => ({}))));
    data.methods.forEach((_, place) => { if (chosen(place)) methods.append(scored(example, place)); });
    if (!data.methods.length && example.units) methods.append(make("p", { class: "units" }, unitsOf(example).join(" ")));
    box.append(methods);
    if (data.columns.length) box.append(measures(now));
    return box;
  }

  function measures(now) {
    const rows = data.columns.map((column, i) => make("tr", {}, make("th", { scope: "row" }, column.title), make("td", { class: "n" }, number(now.measures[i]))));
    const by = sort.value.startsWith("m") ? Number(sort.value.slice(1)) : -1;
    const heading = by < 0 ? "All measures of this example" : `${data.columns[by].title}: ${number(now.measures[by])}; all measures`;
    return make("details", { class: "mine" }, make("summary", {}, heading), make("table", {}, make("tbody", {}, ...rows)));
  }

  const chosen = place => { const box = at(`method-${place}`); return !box || box.checked; };

  function value(example) {
    const now = seen(example), [kind, place] = [sort.value[0], Number(sort.value.slice(1))];
    if (kind === "m") return now.measures[place];
    if (kind === "p") return now.p[now.predicted];
    if (kind === "w") return now.without[place] === null ? null : now.p[now.predicted] - now.without[place];
    return null;
  }

  function matches(example, words) {
    const right = seen(example).predicted === example.label;
    if (ofClass.value !== "" && example.label !== Number(ofClass.value)) return false;
    if (correct.value && (correct.value === "right") !== right) return false;
    const all = `${example.id} ${(example.units || "").replaceAll("\t", " ")} ${example.query || ""}`.toLowerCase();
    return words.every(word => all.includes(word));
  }

  function refresh() {
    const words = text.value.toLowerCase().split(/\s+/).filter(Boolean);
    found = data.examples.filter(example => matches(example, words));
    if (sort.value !== "o") {
      const sign = order.value === "down" ? -1 : 1, known = new Map(found.map(example => [example, value(example)]));
      found.sort((a, b) => {
        const [x, y] = [known.get(a), known.get(b)];
        return x === null ? (y === null ? 0 : 1) : y === null ? -1 : sign * (x - y);  // undefined ones come last
      });
    }
    list.replaceChildren();
    shown = 0;
    show();
  }

  function show(upTo = shown + PAGE) {
    const next = found.slice(shown, upTo);
    shown += next.length;
    list.append(...next.map(article));
    more.hidden = shown >= found.length;
    more.textContent = `Show more (${found.length - shown} left)`;
    count.textContent = `${found.length} of ${data.examples.length} examples` + (shown < found.length ? `, the first ${shown} shown` : "");
  }

  function chooseOrder() {
    const column = sort.value[0] === "m" ? data.columns[Number(sort.value.slice(1))] : null;
    const better = column ? column.direction : "none";
    const [up, down] = better === "up" ? ["worst first", "best first"] : better === "down" ? ["best first", "worst first"] : ["lowest first", "highest first"];
    order.replaceChildren(option("up", up), option("down", down));
    order.value = better === "down" || better === "none" ? "down" : "up";
    order.disabled = sort.value === "o";
  }

  // A permanent link to an example shows it whatever is being filtered.
  function follow() {
    const asked = /^#example=(.*)$/.exec(location.hash);
    if (!asked) return;
    let id;
    try { id = decodeURIComponent(asked[1]); } catch { return; }
    const example = data.examples.find(one => one.id === id);
    if (!example) { count.textContent = `There is no example “${id}” on this page.`; return; }
    if (!found.includes(example)) { ofClass.value = correct.value = text.value = ""; refresh(); }
    show(Math.max(shown, found.indexOf(example) + 1));
    linked?.classList.remove("linked");
    linked = document.getElementById(`example=${id}`);
    linked.classList.add("linked");
    linked.scrollIntoView();
    linked.focus({ preventScroll: true });
  }

  function step(event) {
    if (!["j", "k"].includes(event.key) || event.ctrlKey || event.metaKey || event.altKey) return;
    const here = event.target.closest(".example");
    const next = event.key === "j" ? here?.nextElementSibling ?? (here ? null : list.firstElementChild) : here?.previousElementSibling;
    if (event.key === "j" && here && !next && shown < found.length) { show(); step(event); return; }
    if (next) { next.focus(); next.scrollIntoView({ block: "nearest" }); event.preventDefault(); }
  }

  sort.append(option("o", "order of the test split"), option("p0", "probability of the prediction"),
    ...data.columns.map((column, i) => option(`m${i}`, column.title)),
    ...data.methods.filter((_, i) => data.examples.some(e => e.seen[0].without[i] !== null)).map(method => option(`w${data.methods.indexOf(method)}`, `fall without the top unit of ${method.name}`)));
  ofClass.append(option("", "all"), ...data.labels.map((name, i) => option(String(i), name)));
  seed.append(...data.seeds.map(name => option(String(name), String(name))));
  seed.disabled = data.seeds.length < 2;
  data.methods.forEach((method, i) => at("methods").append(make("label", {}, make("input", { type: "checkbox", id: `method-${i}`, checked: "" }), method.name)));
  at("methods").hidden = !data.methods.length;
  const first = data.columns.findIndex(column => column.direction !== "none");
  sort.value = first < 0 ? "o" : `m${first}`;
  chooseOrder();
  sort.addEventListener("change", chooseOrder);
  at("controls").addEventListener("submit", event => event.preventDefault());
  at("controls").addEventListener("input", refresh);
  more.addEventListener("click", () => { const before = shown; show(); list.children[before]?.focus(); });
  list.addEventListener("keydown", step);
  addEventListener("hashchange", follow);
  at("controls").hidden = false;
  refresh();
  follow();
})();
