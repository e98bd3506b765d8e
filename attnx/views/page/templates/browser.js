"use strict";
// Lists, sorts, searches and colours the examples. Every text goes in as text, never as markup.
(() => {
  const data = JSON.parse(document.getElementById("payload").textContent);
  const at = id => document.getElementById(id);
  const list = at("list"), more = at("more"), count = at("count"), controls = at("controls");
  const [left, right, sort, order, ofClass, correct, seed, text] = ["left", "right", "sort", "order", "class", "correct", "seed", "text"].map(at);
  const FIRST = 4, PAGE = 20;  // examples at once: the figures below stay near
  const LEAST = 0.01;  // with less between random and best, no order of this text is better than another
  let found = [], shown = 0, linked = null;

  function make(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) if (value !== null) element.setAttribute(name, value);
    element.append(...children);
    return element;
  }
  // Words, labels and names of others may run from right to left: each is isolated, by an element or, in an
  // attribute and an option, where no element can stand, by the two characters for it.
  const foreign = words => make("bdi", {}, words);
  const isolated = words => `\u2068${words}\u2069`;
  const option = (value, words) => make("option", { value }, words);
  const number = value => value === null ? "–" : Math.abs(value) >= 0.01 || value === 0 ? value.toFixed(3) : String(Number(value.toPrecision(3)));
  const percent = p => `${(100 * p).toFixed(p > 0.985 || p < 0.015 ? 1 : 0)} %`;
  const ofSeed = example => example.by_seed[seed.selectedIndex];
  const unitsOf = example => example.units === undefined ? [] : example.units.split("\t");
  const direction = example => example.right_to_left ? "rtl" : null;

  // One byte for each unit: its share of the example's largest score, from -127 to 127.
  const shares = code => Array.from(atob(code), c => (c.charCodeAt(0) << 24 >> 24) / 127);

  const strength = share => share ? `--share: ${Math.abs(share).toFixed(2)}` : "";
  const classes = (name, share, isTop, isKnown) =>
    [name, share > 0 ? "above" : share < 0 ? "below" : "", isTop ? "top" : "", isKnown ? "known" : ""].filter(Boolean).join(" ");

  // What a unit looks like: a word on the colour of its score.
  // A bracket or a number has no direction of its own and takes that of the text.
  function unit(word, dir, share, isTop, isKnown, score) {
    return make("bdi", { dir: /\p{L}/u.test(word) ? null : dir, class: classes("u", share, isTop, isKnown), style: strength(share) || null, title: `${isolated(word)}: ${number(score)}` }, word);
  }

  // Units that are images: tiles of one picture under their colours, in a square if their number allows it.
  const across = count => Number.isInteger(Math.sqrt(count)) ? Math.sqrt(count) : count;
  function tiles(example, description, count, tile) {
    const wide = across(count), high = count / wide, place = (at, of) => of > 1 ? `${100 * at / (of - 1)}%` : "0";
    const box = make("div", { class: "tiles", role: "img", "aria-label": description, style: `--across: ${wide}; --down: ${high}; --picture: url(data:image/png;base64,${example.picture})` });
    for (let i = 0; i < count; i++) {
      const { names = "tile", style = "", title = null } = tile(i);
      box.append(make("span", { class: names, title, style: `background-position: ${place(i % wide, wide)} ${place(Math.floor(i / wide), high)}; ${style}` }));
    }
    return box;
  }

  // The place of a method between random and best on this text: random in the middle, best at the right end.
  function place(now, method) {
    const gain = now.gain[method];
    if (gain === null || now.best === null) return null;
    if (now.best < LEAST) return make("p", { class: "place" }, make("span", {}), make("span", {}, `no order of these ${data.unit}s is better than a random one`));
    const share = Math.max(-1, Math.min(1, gain / now.best)), dot = 50 + 50 * share;
    const bar = (name, start, width) => make("span", { class: name, style: `left: ${start}%` + (width === undefined ? "" : `; width: ${width}%`) });
    const tone = share >= 0.5 ? "good" : share <= -0.05 ? "bad" : "even";
    return make("p", { class: "place" },
      make("span", { class: `track ${tone}`, "aria-hidden": "true" }, make("span", { class: "axis" }), bar("tick random", 50), bar("bar", Math.min(50, dot), Math.abs(dot - 50)), bar("dot", dot)),
      make("span", {}, `${Math.round(100 * share)} % of the way from random to best`.replace("-", "−")));
  }

  function scored(example, index) {
    const method = data.methods[index], now = ofSeed(example), code = now.scores[index];
    const box = make("div", { class: "method" }, make("h4", {}, foreign(method.name)));
    if (code === null) {
      box.append(make("p", { class: "effect" }, "This method gave no scores for this example."));
      return box;
    }
    const values = shares(code), largest = now.largest[index] ?? 0;
    const words = unitsOf(example), known = new Set(example.rationale || []);
    const ranked = values.map((_, i) => i).sort((a, b) => values[b] - values[a]);
    const top = values.some(value => value !== values[0]) ? ranked[0] : -1;
    const named = i => words[i] ?? `${data.unit} ${i + 1}`;
    const line = example.picture
      ? tiles(example, `The ${data.unit}s of ${isolated(example.id)} with the scores of ${isolated(method.name)}`, values.length, i => ({ names: classes("tile", values[i], i === top, known.has(i)), style: strength(values[i]), title: `${isolated(named(i))}: ${number(values[i] * largest)}` }))
      : make("p", { class: "units", dir: direction(example) });
    if (!example.picture) values.forEach((share, i) => line.append(unit(named(i), direction(example), share, i === top, known.has(i), share * largest), " "));
    const best = ranked.slice(0, 3).flatMap((i, at) => [at ? ", " : "", foreign(named(i)), ` ${number(values[i] * largest)}`]);
    box.append(make("p", { class: "hidden" }, "Highest scores of ", foreign(method.name), ": ", ...best, "."), line);
    const without = now.without[index];
    if (without !== null && top >= 0)
      box.append(make("p", { class: "effect" }, "Without “", foreign(named(top)), "” the probability of ", foreign(data.labels[now.predicted]), ` goes from ${percent(now.p[now.predicted])} to ${percent(without)}`));
    const where = place(now, index);
    if (where) box.append(where);
    return box;
  }

  function article(example) {
    const now = ofSeed(example), isCorrect = now.predicted === example.label;
    const outcome = make("p", {}, "Label ", make("b", {}, foreign(data.labels[example.label])), ", predicted ",
      make("b", {}, foreign(data.labels[now.predicted])), ` (probability ${percent(now.p[now.predicted])}), `, isCorrect ? "✓ correct" : "✗ wrong");
    const box = make("article", { class: "example", id: `example=${example.id}`, tabindex: "-1", "aria-label": `Example ${isolated(example.id)}` },
      make("header", {}, outcome, make("h3", {}, make("a", { href: `#${view(example.id)}` }, foreign(example.id)))));
    if (example.query) box.append(make("p", { class: "query" }, make("b", {}, "Query: "), foreign(example.query)));
    const methods = make("div", { class: example.picture ? "methods pictured" : "methods" });
    if (example.picture) methods.append(make("div", { class: "method" }, make("h4", {}, "picture"), tiles(example, `The ${data.unit}s of ${isolated(example.id)}`, unitsOf(example).length, () => ({}))));
    chosen().forEach(index => methods.append(scored(example, index)));
    if (!data.methods.length && example.units) methods.append(make("p", { class: "units", dir: direction(example) }, unitsOf(example).join(" ")));
    box.append(methods);
    if (data.columns.length) box.append(measures(now));
    return box;
  }

  function measures(now) {
    const rows = data.columns.map((column, i) => make("tr", {}, make("th", { scope: "row" }, foreign(column.title)), make("td", { class: "n" }, number(now.measures[i]))));
    const by = sort.value.startsWith("m") ? Number(sort.value.slice(1)) : -1;
    const heading = by < 0 ? ["All measures of this example"] : [foreign(data.columns[by].title), ` ${number(now.measures[by])}; show all measures`];
    return make("details", { class: "values" }, make("summary", {}, ...heading), make("table", {}, make("tbody", {}, ...rows)));
  }

  // The methods that are shown: two side by side, one alone, or all.
  function chosen() {
    if (right.value === "all") return data.methods.map((_, i) => i);
    return [left.value, right.value].filter(value => value !== "").map(Number);
  }

  function value(example) {
    const now = ofSeed(example), [kind, place] = [sort.value[0], Number(sort.value.slice(1))];
    const gain = index => index === "" || index === "all" ? null : now.gain[Number(index)];
    if (kind === "m") return now.measures[place];
    if (kind === "p") return now.p[now.predicted];
    if (kind === "w") return now.without[place] === null ? null : now.p[now.predicted] - now.without[place];
    if (kind === "g") return gain(left.value);
    if (kind === "d") return gain(left.value) === null || gain(right.value) === null ? null : gain(right.value) - gain(left.value);
    return null;
  }

  function matches(example, words) {
    const isCorrect = ofSeed(example).predicted === example.label;
    if (ofClass.value !== "" && example.label !== Number(ofClass.value)) return false;
    if (correct.value && (correct.value === "correct") !== isCorrect) return false;
    example.all ??= `${example.id} ${(example.units || "").replaceAll("\t", " ")} ${example.query || ""}`.toLowerCase();
    return words.every(word => example.all.includes(word));
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
    show(FIRST);
  }

  function show(upTo = shown + PAGE) {
    const next = found.slice(shown, upTo);
    shown += next.length;
    list.append(...next.map(article));
    more.hidden = shown >= found.length;
    more.textContent = `Show ${Math.min(PAGE, found.length - shown)} more`;
    count.textContent = `${found.length} of ${data.examples.length} examples` + (shown < found.length ? `; the first ${shown} are shown` : "");
  }

  function chooseOrder() {
    const column = sort.value[0] === "m" ? data.columns[Number(sort.value.slice(1))] : null;
    const better = column ? column.direction : sort.value[0] === "g" ? "up" : "none";
    const [up, down] = better === "up" ? ["worst first", "best first"] : better === "down" ? ["best first", "worst first"] : ["lowest first", "highest first"];
    order.replaceChildren(option("up", up), option("down", down));
    order.value = better === "down" || better === "none" ? "down" : "up";
    order.disabled = sort.value === "o";
  }

  // What is seen, as the part of an address behind "#": the example, then every control that was changed.
  const first = {};
  function view(id) {
    const parts = id === undefined ? [] : [`example=${encodeURIComponent(id)}`];
    for (const field of controls.elements) if (field.id && field.value !== first[field.id]) parts.push(`${field.id}=${encodeURIComponent(field.value)}`);
    return parts.join("&");
  }

  // A permanent link shows its example even if the filters exclude it.
  function follow() {
    const asked = new Map(location.hash.slice(1).split("&").map(part => part.split("=")).filter(part => part.length === 2));
    const text_of = name => { try { return decodeURIComponent(asked.get(name)); } catch { return ""; } };
    if ([...asked.keys()].some(name => name in first)) {
      for (const id of Object.keys(first)) {
        if (id === "order" && !asked.has(id)) continue;  // the sort has chosen it
        at(id).value = asked.has(id) ? text_of(id) : first[id];
        if (at(id).value === "" && at(id).tagName === "SELECT") at(id).value = first[id];
        if (id === "sort") chooseOrder();
      }
      refresh();
    }
    if (!asked.has("example")) return;
    const id = text_of("example"), example = data.examples.find(one => one.id === id);
    if (!example) { count.replaceChildren("There is no example “", foreign(id), "” on this page."); return; }
    if (!found.includes(example)) { ofClass.value = correct.value = text.value = ""; refresh(); }
    show(Math.max(shown, found.indexOf(example) + 1));
    linked?.classList.remove("linked");
    linked = at(`example=${id}`);
    linked.classList.add("linked");
    linked.scrollIntoView();
    linked.focus({ preventScroll: true });
  }

  function step(event) {
    if (!["j", "k", "/"].includes(event.key) || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "/") { text.focus(); event.preventDefault(); return; }
    const here = event.target.closest(".example");
    const next = event.key === "j" ? here?.nextElementSibling ?? (here ? null : list.firstElementChild) : here?.previousElementSibling;
    if (event.key === "j" && here && !next && shown < found.length) { show(); step(event); return; }
    if (next) { next.focus(); next.scrollIntoView({ block: "nearest" }); event.preventDefault(); }
  }

  const names = data.methods.map((method, i) => option(String(i), isolated(method.name)));
  left.append(...names);
  right.append(...names.map(name => name.cloneNode(true)), option("", "nothing"), option("all", "all methods"));
  left.disabled = right.disabled = data.methods.length < 2;
  [left.value, right.value] = data.pair.length ? data.pair.map(String) : [data.methods.length ? "0" : "", ""];
  if (data.decides) sort.append(option("d", "lead of the second method"), option("g", "lead of the first method over random"));
  sort.append(option("o", "order in the test split"), option("p0", "probability of the prediction"),
    ...data.columns.map((column, i) => option(`m${i}`, isolated(column.title))),
    ...data.methods.filter((_, i) => data.examples.some(e => e.by_seed[0].without[i] !== null)).map(method => option(`w${data.methods.indexOf(method)}`, `fall in probability without the top ${data.unit} of ${isolated(method.name)}`)));
  ofClass.append(option("", "all labels"), ...data.labels.map((name, i) => option(String(i), isolated(name))));
  seed.append(...data.seeds.map(name => option(String(name), String(name))));
  seed.disabled = data.seeds.length < 2;
  const directed = data.columns.findIndex(column => column.direction !== "none");
  sort.value = data.decides ? (data.pair.length ? "d" : "g") : directed < 0 ? "o" : `m${directed}`;
  chooseOrder();
  for (const field of controls.elements) if (field.id) first[field.id] = field.value;
  sort.addEventListener("input", chooseOrder);  // before the form hears of it
  controls.addEventListener("submit", event => event.preventDefault());
  controls.addEventListener("input", () => { refresh(); history.replaceState(null, "", `#${view()}`); });
  more.addEventListener("click", () => { const before = shown; show(); list.children[before]?.focus(); });
  list.addEventListener("keydown", step);
  addEventListener("hashchange", follow);
  controls.hidden = false;
  refresh();
  follow();
})();
