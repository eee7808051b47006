// The analyst's page: tabs, units, copying, and a refresh that exchanges only what changes, so that focus, scroll
// position and the screen reader's place stay where they are. Without this script everything is there, in one column.
const root = document.documentElement;
root.classList.add("js");

// Tabs, by the pattern of the ARIA practices: arrow keys move, and the chosen tab is in the address.
const tabs = [...document.querySelectorAll("[role=tab]")];
const panelOf = (tab) => document.getElementById(tab.getAttribute("aria-controls"));
function choose(tab, focus) {
  for (const other of tabs) {
    const chosen = other === tab;
    other.setAttribute("aria-selected", String(chosen));
    other.tabIndex = chosen ? 0 : -1;
    panelOf(other).hidden = !chosen;
  }
  history.replaceState(null, "", `#${tab.dataset.model}`);
  if (focus) tab.focus();
}
for (const [place, tab] of tabs.entries()) {
  panelOf(tab).setAttribute("role", "tabpanel");
  tab.addEventListener("click", () => choose(tab, false));
  tab.addEventListener("keydown", (event) => {
    const to = { ArrowRight: place + 1, ArrowLeft: place - 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    choose(tabs[(to + tabs.length) % tabs.length], true);
  });
}
if (tabs.length) choose(tabs.find((tab) => location.hash === `#${tab.dataset.model}`) ?? tabs[0], false);

for (const radio of document.querySelectorAll("input[name=unit]")) {
  radio.addEventListener("change", () => { root.dataset.unit = radio.value; });
  if (radio.checked) root.dataset.unit = radio.value; // a browser may remember the choice
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-copy]");
  if (!button) return;
  const source = document.getElementById(button.dataset.copy);
  const said = document.getElementById("copied");
  try {
    await navigator.clipboard.writeText(source.textContent);
    said.textContent = "Copied.";
  } catch { // a browser allows it on https and on this machine only
    source.closest("details").open = true;
    getSelection().selectAllChildren(source);
    said.textContent = "Selected; copy it with the keyboard.";
  }
});

const automatic = document.getElementById("auto");
document.getElementById("refresh").hidden = false;
setInterval(async () => {
  if (!automatic.checked || document.hidden) return;
  try {
    const answer = await fetch("/", { redirect: "error" });
    if (!answer.ok) return;
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const old of document.querySelectorAll("[data-live]")) {
      const next = fresh.getElementById(old.id);
      if (next && !old.contains(document.activeElement) && next.innerHTML !== old.innerHTML) {
        const open = [...old.querySelectorAll("details[open]")].map((one) => one.id);
        old.innerHTML = next.innerHTML;
        for (const id of open) document.getElementById(id)?.setAttribute("open", "");
      }
    }
  } catch { /* the next one may succeed */ }
}, 10000);
