"use strict";

const find = (selector) => document.querySelector(selector);
const all = (selector) => [...document.querySelectorAll(selector)];

// New verdicts are counted, and shown when someone asks for them: nothing moves under the reader.
const table = find("#verdicts[data-live]");
const button = find("#show-new");
if (table) {
  const waiting = [];
  let unsent = 0;
  const title = document.title;
  const count = () => {
    const number = waiting.length + unsent;
    button.hidden = number === 0;
    button.textContent = `Show ${number} new`;
    find("#news").textContent = number ? `${number} new ${number === 1 ? "verdict" : "verdicts"}` : "Up to date";
    document.title = number ? `(${number}) ${title}` : title;
  };
  // As the list has them: the server makes both by one template.
  const rowOf = (told) => {
    const body = document.createElement("tbody");
    body.innerHTML = told;
    body.rows[0].className = "new";
    return body.rows[0];
  };
  const source = new EventSource(table.dataset.live);
  source.addEventListener("verdict", (event) => {
    waiting.push(JSON.parse(event.data));
    // A table that grows without end is of no use; the address shows what is newest.
    if (waiting.length > 200) { waiting.shift(); unsent += 1; }
    count();
  });
  source.addEventListener("more", (event) => { unsent += Number(event.data); count(); });
  source.addEventListener("error", () => { find("#news").textContent = "Waiting for the page's server…"; });
  source.addEventListener("open", count);
  button.addEventListener("click", () => {
    if (unsent) { location.reload(); return; }
    const first = waiting.length ? rowOf(waiting[waiting.length - 1]).querySelector("a").href : "";
    for (const told of waiting.splice(0)) table.tBodies[0].prepend(rowOf(told));
    count();
    // The button that was pressed is gone: go on at what it showed.
    all("#verdicts .reason a").find((link) => link.href === first)?.focus();
  });
}

// On a phone the filters would fill the screen.
if (innerWidth > 700) for (const more of all(".filters .more")) more.open = true;

// Views are addresses; this browser keeps those that were named.
const saving = find("#save-view");
if (saving) {
  const views = JSON.parse(localStorage.getItem("views") ?? "{}");
  const keep = () => localStorage.setItem("views", JSON.stringify(views));
  const draw = () => {
    for (const old of all("#views .saved")) old.remove();
    for (const [name, search] of Object.entries(views)) {
      const view = document.createElement("span");
      const [link, remove] = ["a", "button"].map((tag) => view.appendChild(document.createElement(tag)));
      view.className = "saved";
      link.href = `/verdicts${search}`;
      link.textContent = name;
      remove.className = "quiet";
      remove.textContent = "×";
      remove.title = `Remove the view ${name}`;
      remove.addEventListener("click", () => { delete views[name]; keep(); draw(); });
      saving.before(view);
    }
  };
  saving.hidden = false;
  saving.addEventListener("submit", (event) => {
    event.preventDefault();
    views[find("#view").value] = location.search;
    saving.reset();
    keep();
    draw();
  });
  draw();
}

// A part of a picture that is dragged over becomes the time that is shown.
for (const curve of all("svg[data-begin]")) {
  const [begin, end] = [Date.parse(curve.dataset.begin), Date.parse(curve.dataset.end)];
  const box = () => curve.getBoundingClientRect();
  const share = (event) => Math.min(Math.max((event.clientX - box().left) / box().width, 0), 1);
  let from = null, shade = null;
  curve.addEventListener("pointerdown", (event) => { from = share(event); });
  curve.addEventListener("pointermove", (event) => {
    if (from === null || Math.abs(share(event) - from) < 0.03) return;
    if (!shade) {
      shade = curve.appendChild(document.createElementNS(curve.namespaceURI, "rect"));
      shade.setAttribute("class", "zoom");
      curve.setPointerCapture(event.pointerId);
    }
    const { x, y, width, height } = curve.viewBox.baseVal;
    const [left, right] = [from, share(event)].sort((one, other) => one - other);
    shade.setAttribute("x", x + left * width);
    shade.setAttribute("y", y);
    shade.setAttribute("width", (right - left) * width);
    shade.setAttribute("height", height);
  });
  curve.addEventListener("pointerup", (event) => {
    if (shade) {
      const times = [from, share(event)].sort((one, other) => one - other);
      const [since, until] = times.map((at) => new Date(begin + at * (end - begin)).toISOString().slice(0, 19));
      const list = location.pathname === "/verdicts";
      const query = new URLSearchParams(list ? location.search : "");
      for (const name of ["minutes", "before"]) query.delete(name);
      query.set("since", since);
      query.set("until", until);
      location.assign(`${list ? "/verdicts" : "/"}?${query}`);
    }
    from = null;
  });
  // The link around it is neither dragged, nor followed after a drag.
  const around = curve.closest("a") ?? curve;
  around.addEventListener("click", (event) => { if (shade) event.preventDefault(); });
  around.addEventListener("dragstart", (event) => event.preventDefault());
}

// A sentence and its passage are shown together, whichever of them is chosen.
const show = (number) => {
  for (const mark of all("mark.shown")) mark.classList.remove("shown");
  for (const mark of all(".linked mark")) {
    if (!mark.dataset.numbers.split(" ").includes(number)) continue;
    mark.classList.add("shown");
    const pane = mark.closest(".pane");
    const inside = mark.getBoundingClientRect().top - pane.getBoundingClientRect().top;
    if (mark.id) pane.scrollTop += inside - pane.clientHeight / 3;
  }
};
document.addEventListener("click", (event) => {
  const link = event.target.closest(".linked mark a, .findings .said a");
  const number = (link?.closest("[data-numbers]") ?? event.target.closest(".linked mark"))?.dataset.numbers;
  if (!number) return;
  event.preventDefault();
  show(number.split(" ")[0]);
});

// Keys. Single ones can be switched off, as some speak to their computer.
const dialog = find("#keys");
const on = find("#keys-on");
on.checked = localStorage.getItem("keys") !== "off";
on.addEventListener("change", () => localStorage.setItem("keys", on.checked ? "on" : "off"));
const help = find("#help");
if (help) { help.hidden = false; help.addEventListener("click", () => dialog.showModal()); }
const step = (by) => {
  const links = all("#verdicts .reason > a:first-child, .linked .pane:first-of-type mark[id^=sentence] a");
  const next = links.indexOf(document.activeElement) + by;
  links[Math.min(Math.max(next, 0), links.length - 1)]?.focus();
};
const keys = {
  j: () => step(1),
  k: () => step(-1),
  n: () => { if (button && !button.hidden) button.click(); },
  "/": () => { const words = find("#q"); if (words) words.focus(); else location.href = "/verdicts"; },
  "?": () => dialog.showModal(),
};
// What a page has keys for by itself: a key does what the button, link or summary does that shows it.
for (const one of all("[data-key]")) keys[one.dataset.key] = () => one.click();
const note = find("#note");
if (note) {
  keys.w = () => note.focus();
  note.addEventListener("keydown", (event) => {
    if (event.key === "Escape") note.blur();
    // Enter would give whichever answer stands first.
    if (event.key === "Enter") event.preventDefault();
  });
}
// One answer is sent once, however long or often a key is pressed.
for (const form of all("form[method=post]")) {
  form.addEventListener("submit", (event) => {
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = "yes";
  });
}
// A page that is come back to may be answered again.
addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
document.addEventListener("keydown", (event) => {
  // What was hidden just now, like a dialog's box, has the focus until the next frame.
  const typing = event.target.checkVisibility() && event.target.closest("input, select, textarea, dialog");
  if (typing || event.ctrlKey || event.metaKey || event.altKey || (event.repeat && find(".answers")) || !on.checked || !keys[event.key]) return;
  event.preventDefault();
  keys[event.key]();
});
