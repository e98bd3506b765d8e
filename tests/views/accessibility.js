() => {
  const wrong = [], visible = e => e.checkVisibility({checkOpacity: true, checkVisibilityCSS: true});
  for (const field of document.querySelectorAll("input, select, textarea, button, a[href]")) {
    const name = field.labels?.[0]?.textContent || field.textContent || field.getAttribute("aria-label") || "";
    if (visible(field) && !name.trim()) wrong.push(`no name: ${field.outerHTML.slice(0, 80)}`);
  }
  const levels = [...document.querySelectorAll("h1,h2,h3,h4,h5,h6")].filter(visible).map(h => Number(h.tagName[1]));
  levels.slice(1).forEach((level, i) => { if (level > levels[i] + 1) wrong.push(`heading h${level} after h${levels[i]}`); });
  if (levels.filter(level => level === 1).length !== 1) wrong.push("not one h1");
  for (const svg of document.querySelectorAll("figure svg"))
    if (svg.getAttribute("role") !== "img" || !svg.querySelector("title").textContent) wrong.push("a figure without words");
  for (const table of document.querySelectorAll("table"))
    if (visible(table) && !table.querySelector("th[scope]")) wrong.push("a table without headers");
  const ids = [...document.querySelectorAll("[id]")].map(e => e.id);
  if (new Set(ids).size !== ids.length) wrong.push("an id twice");
  const several = document.querySelectorAll("h2").length > 1;
  for (const tag of ["main", "header", "footer", ...(several ? ["nav"] : [])]) if (!document.querySelector(tag)) wrong.push(`no ${tag}`);
  if (!document.documentElement.lang) wrong.push("no language");

  const parse = text => (text.match(/[\d.]+/g) || []).map(Number);
  const over = ([r, g, b, a = 1], below) => [r, g, b].map((c, i) => c * a + below[i] * (1 - a));
  const background = e => {
    const chain = []; for (let n = e; n; n = n.parentElement) chain.push(n);
    return chain.reverse().reduce((below, n) => over(parse(getComputedStyle(n).backgroundColor), below), [255, 255, 255]);
  };
  const light = c => { const [r, g, b] = c.map(v => (v /= 255) <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4); return .2126 * r + .7152 * g + .0722 * b; };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const reported = new Set();
  while (walker.nextNode()) {
    const e = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || !visible(e) || e.closest("svg, script, style, noscript, option")) continue;
    const below = background(e), ink = parse(getComputedStyle(e).color);
    if (ink[3] === 0) continue;  // the head of the column of strips, which only screen readers need
    const [x, y] = [light(over(ink, below)), light(below)];
    const ratio = (Math.max(x, y) + .05) / (Math.min(x, y) + .05);
    if (ratio < 4.5 && !reported.has(e.className)) { reported.add(e.className); wrong.push(`contrast ${ratio.toFixed(2)} of ${e.tagName}.${e.className}: ${e.textContent.slice(0, 30)}`); }
  }
  if (document.documentElement.scrollWidth > innerWidth) wrong.push("the page scrolls sideways");
  return wrong;
}
