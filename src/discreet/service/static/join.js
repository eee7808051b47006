// The participant's page. Answers are read here, randomized here by discreet-client, and end here: what is sent is the
// report alone. A report is drawn once and kept, so a broken connection or a closed page sends the same bytes again.
import { Client, decodeReport, indexedDbStorage, readTask, sendReport } from "./discreet-client.js";

const byId = (id) => document.getElementById(id);
const show = (id) => { byId(id).hidden = false; };

// The token stands behind the # of the personal link, which browsers send to nobody; it leaves the address bar at once.
const TOKEN = "discreet-token";
if (location.hash.startsWith("#device-")) {
  sessionStorage.setItem(TOKEN, location.hash.slice(1));
  history.replaceState(null, "", location.pathname);
}
const token = sessionStorage.getItem(TOKEN);

const storage = indexedDbStorage();
let task, body;

function problem(text) {
  byId("problem").textContent = text;
  show("problem");
}

function said(error) {
  return error instanceof Error && error.message ? error.message : "something went wrong";
}

/** Answers by the task's own names, and the same as a person would read them. Never stored, never sent. */
function readForm() {
  const record = {}, read = [];
  for (const question of document.querySelectorAll(".question")) {
    const field = question.querySelector("input:checked") ?? question.querySelector("select, input[type=number]");
    if (field?.validity.badInput) {
      field.focus();
      throw new Error(`“${question.dataset.label}” must be a number, or empty.`);
    }
    const value = field?.value ?? "";
    record[question.dataset.name] = value;
    const text = field?.dataset.text ?? field?.selectedOptions?.[0].text ?? value;
    read.push([question.dataset.label, value === "" ? "–" : `${text} ${question.dataset.unit ?? ""}`.trim()]);
  }
  return { record, read };
}

/** The report as it leaves: its bytes, the candidate's number apart from the random id. */
function reportText() {
  const hex = [...body].map((byte) => byte.toString(16).padStart(2, "0"));
  return hex.map((pair, place) => (place % 4 === 3 ? `${pair} ` : pair)).join("").trim();
}

async function make(event) {
  event.preventDefault();
  byId("invalid").hidden = true;
  let answers;
  try {
    answers = readForm();
    byId("make").disabled = true;
    body = await new Client(task, { storage }).report(answers.record);
  } catch (error) {
    byId("invalid").textContent = said(error);
    show("invalid");
    byId("make").disabled = false;
    return;
  }
  byId("questions").hidden = true;
  review(answers.read);
}

function review(read) {
  byId("answers").replaceChildren(...read.flatMap(([label, text]) => {
    const term = document.createElement("dt"), answer = document.createElement("dd");
    term.textContent = label;
    answer.textContent = text;
    return [term, answer];
  }));
  const { index } = decodeReport(task, body);
  byId("report").textContent = reportText();
  byId("meaning").textContent =
    `${body.length} bytes: a random id, and number ${index + 1} of ${task.randomizer.candidates} directions. ` +
    "Any other answers could have given the very same report.";
  show("review");
  byId("review").focus();
}

const REFUSED = {
  token_used: "This link has reported already, with another report. Nothing more was sent.",
  token_needed: "This link is not valid, or its time is over. Ask for a new one; your report is kept.",
  role_forbidden: "This link is not for taking part.",
  conflict: "The collector has another report under the same id. Nothing more can be done here.",
};

async function send() {
  byId("send").disabled = true;
  byId("problem").hidden = true;
  try {
    const receipt = await sendReport(location.origin, token, body);
    if (receipt.accepted) {
      remember();
      return finish("Your report was counted.");
    }
    problem(REFUSED[receipt.code] ?? "The collector cannot take reports just now. Try again in a minute: the same report is sent.");
  } catch {
    problem("There is no connection to the collector. Try again later: the same report is sent.");
  }
  byId("send").disabled = false;
}

const doneKey = () => `discreet-done-${task.question}`;
function remember() {
  sessionStorage.removeItem(TOKEN); // used up
  try { localStorage.setItem(doneKey(), task.id); } catch { /* private browsing: the collector knows it as well */ }
}

function finish(text) {
  for (const id of ["questions", "review"]) byId(id).hidden = true;
  byId("receipt").textContent = text;
  byId("sent-report").textContent = body ? reportText() : "";
  show("done");
  byId("done").focus();
}

/** The report that this browser has drawn for the task before, if it has. */
async function earlier() {
  let found;
  await storage.update((answers) => {
    found = answers.find((answer) => answer.task === task.id);
    return undefined;
  });
  return found && Uint8Array.from(found.body.match(/../g), (pair) => parseInt(pair, 16));
}

async function start() {
  const served = await fetch("/v1/task", { credentials: "omit" });
  if (!served.ok) throw new Error("The collector does not answer just now. Try again later.");
  task = readTask(await served.text(), document.querySelector("footer code").textContent);
  body = await earlier();
  if (body && localStorage.getItem(doneKey())) return finish("This browser has taken part already.");
  if (!token) {
    problem("To take part you need a personal link. Without it you can read this page, and nothing is sent.");
    return;
  }
  byId("send").addEventListener("click", send);
  if (body) {
    byId("questions").hidden = true;
    review([["Your answers", "were forgotten when the page was closed; the report was kept"]]);
    return;
  }
  byId("questions").addEventListener("submit", make);
  byId("make").disabled = false;
}

start().catch((error) => problem(said(error)));
