"use strict";
// Every text goes in by textContent: what a host printed is never markup.
const D = JSON.parse(document.getElementById("data").textContent);
const at = (id) => document.getElementById(id);
const S = (n) => D.texts[n];
const PIECE = 200;
let shown = PIECE;

function make(tag, text, parent) {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  if (parent) parent.append(element);
  return element;
}

const hosts = D.hosts.map((row, number) => {
  const [name, state, what, found, next, traits, findings, about] = row;
  const pairs = traits.map(([k, v]) => [S(k), S(v)]);
  const of = new Map(pairs);
  const rules = findings.map((f) => S(f[0]));
  const text = [name, D.states[state], S(what), ...pairs.map((p) => p[1]), ...rules].join("\n").toLowerCase();
  const place = of.get(D.place) || "no " + D.place + " known";
  return { number, name, state, what, found, next, pairs, findings, about, place, text };
});
const byName = new Map(hosts.map((h) => [h.name, h]));
const ofCause = D.causes.map((c) => new Set(c[1]));

function fill(select, first, texts) {
  const option = make("option", first, select);
  option.value = "";
  texts.forEach(([value, text]) => { make("option", text, select).value = value; });
}
fill(at("state"), "every state", D.states.map((text, n) => [String(n), text])
  .filter(([n]) => hosts.some((h) => h.state === Number(n))));
fill(at("cause"), "every cause", D.causes.map((c, n) => [String(n), `${n + 1}. ${S(c[0])} (${c[1].length})`]));
const places = [...new Set(hosts.map((h) => h.place))].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
fill(at("place"), "every " + D.place, places.map((p) => [p, p]));

const squares = new Map();
for (const place of places) {
  const section = make("section", undefined, at("map"));
  make("h3", place, section);
  const cells = make("div", undefined, section);
  for (const h of hosts.filter((one) => one.place === place)) {
    const cell = make("a", undefined, cells);
    cell.href = "#host=" + encodeURIComponent(h.name);
    cell.title = `${h.name}: ${D.states[h.state]}`;
    cell.className = "s" + h.state;
    squares.set(h.number, cell);
  }
}

function wanted() {
  const words = at("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const [state, cause, place] = ["state", "cause", "place"].map((id) => at(id).value);
  return hosts.filter((h) => (state === "" || h.state === Number(state))
    && (cause === "" || ofCause[Number(cause)].has(h.number))
    && (place === "" || h.place === place)
    && words.every((word) => h.text.includes(word)));
}

function list() {
  const found = wanted();
  const body = document.querySelector("#list tbody");
  body.replaceChildren();
  for (const h of found.slice(0, shown)) {
    const row = make("tr", undefined, body);
    const link = make("a", h.name, make("th", undefined, row));
    link.href = "#host=" + encodeURIComponent(h.name);
    make("td", D.states[h.state], row);
    make("td", h.place, row);
    make("td", h.findings.length ? S(h.findings[0][1]) : S(h.what), row);
  }
  at("count").textContent = `${found.length} of ${hosts.length} hosts`
    + (found.length > shown ? `, the first ${shown} are listed` : "");
  at("more").hidden = found.length <= shown;
  const inside = new Set(found.map((h) => h.number));
  squares.forEach((cell, number) => cell.classList.toggle("off", !inside.has(number)));
}

function finding(row, parent) {
  const [rule, title, where, severity, seen, so, cost, remedy, commands] = row;
  make("h4", `${S(title)}: ${S(where)}`, parent);
  make("p", `${S(severity)}${cost ? `, costs ${S(cost)}` : ""}; ${S(so)}`, parent);
  seen.forEach(([found, source]) => make("p", `seen: ${S(found)}  (${S(source)})`, parent));
  if (S(remedy)) make("p", `fix: ${S(remedy)}`, parent);
  if (commands.length) make("pre", commands.map(S).join("\n"), parent);
  make("p", `rule ${S(rule)}`, parent).className = "meta";
}

function open() {
  const named = /^#host=(.*)$/.exec(location.hash);
  const h = named && byName.get(decodeURIComponent(named[1]));
  const card = at("host");
  card.hidden = !h;
  document.body.classList.toggle("one", Boolean(h));
  card.replaceChildren();
  if (!h) return;
  make("h3", `${h.name}: ${D.states[h.state]}`, card);
  const print = make("button", "Print this host", card);
  print.type = "button";
  print.addEventListener("click", () => window.print());
  const close = make("button", "Close", card);
  close.type = "button";
  close.addEventListener("click", () => { location.hash = "#hosts"; });
  if (S(h.what)) make("p", `${S(h.what)}: ${S(h.found)}. ${S(h.next)}`, card);
  h.findings.forEach((row) => finding(row, card));
  D.outliers.forEach(([of, names, rows]) => {
    if (!names.includes(h.number)) return;
    make("h4", `Differs, with ${names.length} of ${of}, from hosts with the same cards`, card);
    rows.forEach(([name, value, usual]) => make("p", `${S(name)}: ${S(value)}; the others ${S(usual)}`, card));
  });
  make("h4", "What it is", card);
  h.about.forEach(([name, value]) => make("p", `${S(name)}: ${S(value)}`, card));
  h.pairs.forEach(([name, value]) => make("p", `${name}: ${value}`, card));
  card.focus();
}

// The page has them by hosts; those of one price stay so.
const causes = [...document.querySelectorAll("#causes .cause")];
const price = (cause) => Number(cause.dataset.price);
at("ordering").hidden = causes.length < 2;
at("order").addEventListener("change", () => {
  const sorted = at("order").value ? [...causes].sort((a, b) => price(b) - price(a)) : causes;
  at("causes").append(...sorted);
});

let timer = 0;
at("search").addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(() => { shown = PIECE; list(); }, 80); });
["state", "cause", "place"].forEach((id) => at(id).addEventListener("change", () => { shown = PIECE; list(); }));
at("filters").addEventListener("submit", (event) => event.preventDefault());
at("more").addEventListener("click", () => { shown += PIECE; list(); });
window.addEventListener("hashchange", open);
list();
open();
document.documentElement.dataset.ready = "yes";
