"use strict";
const $ = id => document.getElementById(id);
const made = (tag, settings, ...children) => { const e = Object.assign(document.createElement(tag), settings); e.append(...children); return e };

// Numbers: what a slider covers (typed numbers may go further), on a log scale or not, and what is usual.
const FIELDS = {
  n: { title: "People", low: 100, high: 1e7, log: true, usual: 20000, whole: true },
  d: { title: "Columns", low: 1, high: 100, usual: 12, whole: true },
  epsilon: { title: "Epsilon", low: .05, high: 20, log: true, usual: 1, note: "Small epsilon: more privacy, more noise." },
  error: { title: "Wanted error", low: .001, high: 1, log: true, usual: .02,
    note: "Standard error of a coefficient, per standard deviation of its column." },
  delta: { title: "Delta", low: 1e-12, high: 1e-3, log: true, usual: 1e-6 },
  rate: { title: "Share of yes", low: .005, high: .5, log: true, optional: true },
  public: { title: "Public rows", low: 0, high: 5000, step: 50, usual: 0, whole: true },
  effect: { title: "Effect", optional: true, note: "Standard deviation of the true predictor; linear models: the root of R²." },
};
const USUAL = { linear: { effect: .707 }, logistic: { rate: .5, effect: 1 }, poisson: { rate: 1, effect: .5 } };
const CHOICES = ["family", "trust", "neighbours"];
const rounded = v => +v.toPrecision(2);
// 1, 2 and 5 times powers of ten.
const steps = (low, high) => {
  const out = [];
  for (let k = Math.floor(Math.log10(low)); k <= Math.log10(high); k++)
    for (const m of [1, 2, 5]) { const v = +(m * 10 ** k).toPrecision(1); if (v >= low * .999 && v <= high * 1.001) out.push(v) }
  return out;
};
const short = v => v >= 1e6 ? v / 1e6 + "M" : v >= 1e3 ? v / 1e3 + "k" : v >= .001 ? String(v) : v.toExponential(0);
const plainly = v => typeof v === "number" && v > 0 && v < 1e-3 ? v.toExponential() : String(v);
const shown = (name, v) => FIELDS[name].whole ? Math.round(v).toLocaleString("en") : plainly(+v.toPrecision(3));
// 20,000, 20k, 5 %, 1e-6
const typed = text => {
  const parts = /^([-+]?[\d.]+(?:e[-+]?\d+)?)(k|M|%)?$/i.exec(text.replace(/[\s,_]/g, ""));
  return parts ? +parts[1] * ({ k: 1e3, m: 1e6, "%": .01 }[(parts[2] || "").toLowerCase()] || 1) : NaN;
};

for (const [name, f] of Object.entries(FIELDS)) {
  const box = made("input", { type: "text", id: name, inputMode: "decimal", autocomplete: "off", value: f.optional ? "" : shown(name, f.usual) });
  const field = made("div", { className: "field", id: name + "-field" },
    made("div", { className: "top" }, made("label", { htmlFor: name, id: name + "-label", textContent: f.title }), box));
  if (f.low !== undefined) {
    const scale = f.log ? v => Math.log10(v).toFixed(2) : v => v;
    const slide = made("input", { type: "range", id: name + "-slide", min: scale(f.low), max: scale(f.high), step: f.log ? .01 : f.step || 1 });
    slide.setAttribute("aria-labelledby", name + "-label");
    if (f.log) {
      slide.setAttribute("list", name + "-ticks");
      field.append(made("datalist", { id: name + "-ticks" }, ...steps(f.low, f.high).map(v => made("option", { value: scale(v) }))));
    }
    slide.addEventListener("input", () => {
      const near = f.log && steps(f.low, f.high).find(v => Math.abs(scale(v) - slide.value) < .012);
      box.value = shown(name, f.log ? near || rounded(10 ** +slide.value) : +slide.value);
      changed();
    });
    field.append(slide);
  }
  if (f.note) field.append(made("p", { className: "soft", textContent: f.note }));
  box.addEventListener("input", changed);
  $("fields").append(field);
}

const found = () => $("find").value;
const used = name => name === "rate" ? $("family").value !== "linear" : name === "error" ? found() !== "error" : name !== found();

// What is asked, by the names of discreet.plan; null where a number cannot be read.
function chosen() {
  const asked = { family: $("family").value };
  for (const name of Object.keys(FIELDS)) {
    const box = $(name), text = box.value.trim(), value = typed(text), f = FIELDS[name];
    const wrong = used(name) && (text === "" ? !f.optional : !Number.isFinite(value) || (f.whole && !Number.isInteger(+value.toPrecision(12))));
    box.setAttribute("aria-invalid", wrong);
    if (wrong) return { wrong: name };
    if (used(name) && text !== "" && !(name === "public" && value === 0)) asked[name] = plainly(+value.toPrecision(12));
  }
  for (const name of CHOICES.slice(1)) if ($(name).selectedIndex) asked[name] = $(name).value;
  return asked;
}

function take(asked) {
  for (const name of CHOICES) if (asked[name] !== undefined) $(name).value = asked[name];
  if (CHOICES.some(name => $(name).selectedIndex < 0)) for (const name of CHOICES) $(name).selectedIndex = Math.max(0, $(name).selectedIndex);
  for (const name of Object.keys(FIELDS)) {
    if (asked[name] === null) { if (FIELDS[name].optional) $(name).value = ""; else $("find").value = name }
    else if (asked[name] !== undefined) $(name).value = Number.isFinite(+asked[name]) ? shown(name, +asked[name]) : asked[name];
  }
}

function dress() {
  const family = $("family").value;
  $("rate-field").hidden = family === "linear";
  $("rate-label").textContent = family === "poisson" ? "Mean count" : "Share of yes";
  $("rate-slide").hidden = family === "poisson";
  $("error-field").hidden = found() === "error";
  for (const name of ["rate", "effect"]) $(name).placeholder = USUAL[family][name] ?? "";
  for (const name of ["n", "epsilon"]) {
    $(name).readOnly = $(name + "-slide").disabled = found() === name;
    $(name + "-label").textContent = FIELDS[name].title + (found() === name ? " needed" : "");
  }
  for (const [name, f] of Object.entries(FIELDS)) {
    const slide = $(name + "-slide"), value = $(name).value.trim() === "" ? USUAL[family][name] : typed($(name).value);
    if (!slide || !(value >= 0)) continue;
    slide.value = f.log ? Math.log10(value) : value;
    slide.setAttribute("aria-valuetext", shown(name, value));
  }
}

const percent = v => (100 * v).toFixed(v > .995 ? 3 : v > .95 ? 1 : 0) + " %";
const fill = (id, lines) => $(id).replaceChildren(...lines.map(line => made("li", { textContent: line })));

let latest = 0, waiting, answered = null;
function changed() { dress(); clearTimeout(waiting); waiting = setTimeout(ask, 120) }

function refuse(text, remedies) {
  $("problem-text").textContent = text;
  if (answered) remedies = [...remedies, { words: "Back to the last answer", changes: null }];
  $("remedies").replaceChildren(...remedies.map(remedy => {
    const button = made("button", { type: "button", textContent: remedy.words });
    button.addEventListener("click", () => {
      take(remedy.changes || { rate: null, effect: null, public: 0, trust: "central", neighbours: "replace_one", ...answered });
      if (!remedy.changes) $("find").value = answered.error === undefined ? "error" : answered.n === undefined ? "n" : "epsilon";
      dress(); ask() });
    return button }));
  $("problem").hidden = false;
  $("doubt").hidden = true;
  $("answers").classList.remove("waiting");
  $("answers").classList.add("stale");
  $("answers").setAttribute("aria-hidden", "true");
  $("answers").inert = true;
}

async function ask(simulate) {
  const mine = ++latest, asked = chosen();
  if (asked.wrong) {
    refuse(`${FIELDS[asked.wrong].title}: ${FIELDS[asked.wrong].whole ? "a whole number" : "a number"} is needed, such as ${FIELDS[asked.wrong].usual ?? .2}.`, []);
    document.body.dataset.shown = mine;
    return;
  }
  history.replaceState(null, "", "?" + new URLSearchParams(asked));
  const slow = setTimeout(() => $("answers").classList.add("waiting"), 250);
  const reply = await fetch("forecast?" + new URLSearchParams(simulate === true ? { ...asked, simulate: 1 } : asked));
  const told = await reply.json();
  clearTimeout(slow);
  if (mine !== latest) return;
  if (reply.ok) { answered = asked; show(told, asked) } else refuse(told.problem, told.remedies);
  document.body.dataset.shown = mine;
}

function show(told, asked) {
  $("problem").hidden = true;
  $("doubt").hidden = told.sharp;
  $("simulate").hidden = !told.simulable;
  $("answers").hidden = $("answers").inert = false;
  $("answers").removeAttribute("aria-hidden");
  $("answers").classList.remove("stale", "waiting");
  if (told.solved) { $(told.solved).value = shown(told.solved, told[told.solved]); dress() }
  $("headline").textContent = `${told.headline[0].toUpperCase()}${told.headline.slice(1)}; forecast by ${told.method}`;
  $("right").textContent = percent(told.right);
  $("error-found").textContent = told.error.toPrecision(2);
  fill("attacker", told.attacker);
  fill("model", told.model);
  $("rows").replaceChildren(...told.rows.map(cells =>
    made("tr", {}, ...cells.map((cell, i) => made(i ? "td" : "th", { textContent: cell, scope: i ? "" : "row" })))));
  const all = ["epsilon", "n"].flatMap(axis => ["private", "plain", "bound"].flatMap(line => told.curves[axis][line])).filter(v => v > 0);
  const range = [Math.log10(Math.min(...all)) - .1, Math.log10(Math.max(...all)) + .1];
  plot("epsilon", told, range, told.epsilon);
  plot("n", told, range, told.n);
  $("command").textContent = "discreet plan " + Object.entries(asked).map(([name, value]) => `--${name} ${value}`).join(" ");
  const { family, ...others } = asked;
  const given = Object.entries(others).map(([name, value]) => `${name}=${FIELDS[name] ? value : `"${value}"`}`);
  $("python").textContent = `import discreet\n\nprint(discreet.plan("${family}", ${given.join(", ")}))`;
}

function plot(axis, told, [low, high], here) {
  const curve = told.curves[axis], W = 420, H = 260, left = 52, bottom = 38, right = 12, top = 8;
  const logs = curve.values.map(Math.log10), first = logs[0], last = logs[logs.length - 1];
  const x = v => left + (Math.log10(v) - first) / (last - first) * (W - left - right);
  const y = v => top + (high - Math.log10(v)) / (high - low) * (H - top - bottom);
  const line = name => `<polyline class="line ${name}" points="` +
    curve.values.map((v, i) => [v, curve[name][i]]).filter(p => p[1] > 0).map(p => x(p[0]).toFixed(1) + "," + y(p[1]).toFixed(1)).join(" ") + '"/>';
  const tens = v => Math.abs(Math.log10(v) % 1) < 1e-9 || Math.abs(Math.abs(Math.log10(v) % 1) - 1) < 1e-9;
  // Every line at 1, 2 and 5 is drawn; labels that would run into each other are left to powers of ten.
  const labelled = (ticks, room) => ticks.length <= room ? ticks : ticks.filter(tens);
  const across = steps(10 ** first, 10 ** last), up = steps(10 ** low, 10 ** high);
  const name = axis === "n" ? "people" : "epsilon";
  $("plot-" + axis).innerHTML = `<svg viewBox="0 0 ${W} ${H}" role="img" aria-label="Standard error against ${name}: ` +
    `${told.error.toPrecision(2)} at ${here}; without privacy ${told.plain.toPrecision(2)}">` +
    up.map(v => `<line class="${tens(v) ? "major" : "minor"}" x1="${left}" x2="${W - right}" y1="${y(v)}" y2="${y(v)}"/>`).join("") +
    labelled(up, 11).map(v => `<text x="${left - 6}" y="${y(v) + 4}" text-anchor="end">${short(v)}</text>`).join("") +
    across.map(v => `<line class="${tens(v) ? "major" : "minor"}" x1="${x(v)}" x2="${x(v)}" y1="${top}" y2="${H - bottom}"/>`).join("") +
    labelled(across, 11).map(v => `<text x="${x(v)}" y="${H - bottom + 16}" text-anchor="middle">${short(v)}</text>`).join("") +
    line("plain") + line("bound") + line("private") +
    `<circle cx="${x(here)}" cy="${y(told.error)}" r="5" fill="var(--blue)"/>` +
    `<text x="${(left + W - right) / 2}" y="${H - 4}" text-anchor="middle">${name}</text></svg>`;
}

for (const id of ["command", "python"])
  $("copy-" + id).addEventListener("click", async () => {
    const button = $("copy-" + id), before = button.textContent;
    try {
      await navigator.clipboard.writeText($(id).textContent);
      button.textContent = "Copied";
    } catch {  // a browser that does not let pages copy: the text is marked, and a key copies it
      getSelection().selectAllChildren($(id));
      button.textContent = "Marked: press Ctrl+C";
    }
    setTimeout(() => { button.textContent = before }, 2000);
  });
$("simulate").addEventListener("click", () => ask(true));
for (const id of [...CHOICES, "find"]) $(id).addEventListener("input", changed);

const wanted = Object.fromEntries(new URLSearchParams(location.search));
take(wanted);
if (wanted.error !== undefined) $("find").value = wanted.n === undefined && wanted.epsilon !== undefined ? "n" : "epsilon";
dress();
ask();
