// The live parts of a page. Without this script everything can still be read.
"use strict";

const SLOTS = 4; // a browser holds six connections to one host; some stay free for clicks
const POLL_MS = 1000;
const MAX_LIVE_ROWS = 101; // of a matrix that fills while its bake-off runs

// The style sheet gives times a width, so that nothing moves.
function localTimes(root) {
  for (const time of root.querySelectorAll("time[datetime]")) {
    const clock = time.textContent.includes(":") && { timeStyle: "short", hour12: false };
    time.title = time.textContent;
    time.textContent = new Date(time.dateTime).toLocaleString([], { dateStyle: "medium", ...clock });
  }
}

// Files can be dropped anywhere on the form, or pasted into it.
function takesFiles(form, input) {
  const take = (event, found) => {
    form.classList.remove("over");
    if (!found?.files.length) return;
    event.preventDefault();
    input.files = found.files;
    input.dispatchEvent(new Event("change"));
  };
  form.addEventListener("paste", (event) => take(event, event.clipboardData));
  form.addEventListener("drop", (event) => take(event, event.dataTransfer));
  form.addEventListener("dragleave", () => form.classList.remove("over"));
  form.addEventListener("dragover", (event) => {
    if (!event.dataTransfer.types.includes("Files")) return;
    event.preventDefault();
    form.classList.add("over");
  });
}

// The form of a question. A file that is refused costs neither the text nor the other files.
class Composer {
  constructor(form) {
    this.form = form;
    this.area = form.elements.question;
    this.list = form.querySelector("[data-chips]");
    this.files = [];
    form.addEventListener("submit", (event) => this.submit(event));
    addEventListener("pageshow", () => delete form.dataset.sent);
    this.area.addEventListener("keydown", (event) => this.press(event));
    if (!CSS.supports("field-sizing", "content"))
      this.area.addEventListener("input", () => {
        this.area.style.height = "auto";
        this.area.style.height = `${this.area.scrollHeight}px`;
      });
    form.elements.files.addEventListener("change", (event) => this.add(event.target.files));
    this.area.addEventListener("paste", (event) => this.take(event, event.clipboardData));
    // Files can be dropped anywhere on the page.
    addEventListener("drop", (event) => this.take(event, event.dataTransfer));
    addEventListener("dragleave", (event) => event.relatedTarget || this.mark(false));
    addEventListener("dragover", (event) => {
      if (!event.dataTransfer.types.includes("Files")) return;
      event.preventDefault();
      this.mark(true);
    });
    this.add(form.elements.files.files); // a browser keeps them when it reloads
  }

  mark(isOver) {
    this.form.classList.toggle("over", isOver);
  }

  press(event) {
    if (event.key === "Escape") this.area.blur();
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    this.form.requestSubmit();
  }

  take(event, found) {
    this.mark(false);
    if (!found?.files.length) return;
    event.preventDefault();
    this.add(found.files);
  }

  add(found) {
    const key = (file) => [file.name, file.size, file.lastModified].join("/");
    const known = new Set(this.files.map(key));
    this.files.push(...[...found].filter((file) => !known.has(key(file))));
    this.show();
  }

  // Show a chip for each file; those that cannot be sent say why, and stay behind.
  show() {
    const { files: most, bytes: mostBytes, imageBytes } = this.form.dataset;
    const sent = new DataTransfer();
    let size = 0;
    const chips = this.files.map((file) => {
      let fault = "";
      if (!file.size) fault = "empty";
      else if (file.type.startsWith("image/") && file.size > imageBytes)
        fault = `an image can have ${bytesText(imageBytes)}`;
      else if (size + file.size > mostBytes) fault = `together, ${bytesText(mostBytes)} at most`;
      else if (sent.files.length >= most) fault = `${most} files at most`;
      if (!fault) {
        size += file.size;
        sent.items.add(file);
      }
      return this.chip(file, fault);
    });
    this.form.elements.files.files = sent.files;
    this.list.replaceChildren(...chips);
    this.list.hidden = !chips.length;
  }

  chip(file, fault) {
    const chip = document.createElement("li");
    const size = document.createElement("small");
    const remove = document.createElement("button");
    chip.classList.toggle("refused", Boolean(fault));
    size.textContent = fault ? `not sent: ${fault}` : bytesText(file.size);
    remove.type = "button";
    remove.textContent = "×";
    remove.setAttribute("aria-label", `Remove ${file.name}`);
    remove.addEventListener("click", () => {
      this.files = this.files.filter((one) => one !== file);
      this.show();
      this.area.focus();
    });
    const name = document.createElement("span");
    name.textContent = name.title = file.name;
    chip.append(name, size, remove);
    if (file.type.startsWith("image/")) preview(file).then((image) => image && chip.prepend(image));
    return chip;
  }

  say(text) {
    this.alert?.remove();
    this.alert = Object.assign(document.createElement("p"), { className: "caution", role: "alert" });
    this.alert.textContent = text;
    if (text) this.form.prepend(this.alert);
  }

  submit(event) {
    if (this.form.dataset.sent) return event.preventDefault();
    this.form.dataset.sent = "yes";
    if (!this.form.elements.files.files.length) return undefined;
    event.preventDefault();
    return this.send();
  }

  // With files: on a refusal this page stays, and everything on it.
  async send() {
    this.say("");
    const { action } = this.form;
    const body = new FormData(this.form);
    const response = await fetch(action, { method: "POST", body }).catch(() => null);
    if (response?.redirected) return location.assign(response.url);
    delete this.form.dataset.sent;
    if (!response) return this.say("The council can't be reached. Try again.");
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const main = page.getElementById("main");
    if (!response.ok) return this.say(main.querySelector(".caution").textContent);
    document.getElementById("thread")?.remove();
    return document.getElementById("main").replaceWith(main);
  }
}

function bytesText(bytes) {
  if (bytes < 1000) return `${bytes} bytes`;
  return bytes < 1e6 ? `${Math.round(bytes / 1000)} KB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

// A canvas, since the page's policy loads images from this site alone.
async function preview(file) {
  const side = 56;
  const bitmap = await createImageBitmap(file).catch(() => null);
  if (!bitmap) return null;
  const canvas = Object.assign(document.createElement("canvas"), { width: side, height: side });
  const scale = Math.max(side / bitmap.width, side / bitmap.height);
  const [width, height] = [bitmap.width * scale, bitmap.height * scale];
  canvas.getContext("2d").drawImage(bitmap, (side - width) / 2, (side - height) / 2, width, height);
  bitmap.close();
  return canvas;
}

class Live {
  constructor(main) {
    this.main = main;
    this.base = main.dataset.round;
    this.query = main.dataset.query;
    this.started = null;
    this.ticking = setInterval(() => this.tick(), 1000);
    this.over = false;
    this.answers = [];
  }

  at(id) {
    return document.getElementById(id);
  }

  say(text) {
    const line = this.at("connection");
    if (line && line.textContent !== text) line.textContent = text;
  }

  tick() {
    const line = this.at("elapsed");
    if (!line || this.started === null) return;
    line.textContent = `${Math.round((performance.now() - this.started) / 1000)} s`;
  }

  show(state) {
    if (this.over) return;
    this.say("");
    if (state.closed || state.stopped) return this.finish();
    this.started = state.seconds === null ? null : performance.now() - state.seconds * 1000;
    this.at("progress").innerHTML = state.progress;
    this.fill(state.answers ?? []);
    if (state.over !== undefined && state.over !== this.count) this.fillRows(state.over);
    const draft = this.at("draft");
    if (state.draft) {
      draft.innerHTML = state.draft;
      draft.scrollTop = draft.scrollHeight;
    }
    const summary = this.at("summary");
    if (summary.textContent !== state.summary) summary.textContent = state.summary;
    this.tick();
  }

  fill(answers) {
    answers.forEach((html, i) => {
      // An answer that somebody reads stays as it is, with its place in the scroll box.
      if (this.answers[i] !== html) this.at(`blind-${i}`).innerHTML = html;
      this.answers[i] = html;
    });
  }

  async fillRows(count) {
    const rows = this.at("rows");
    // Rows that somebody is in, or has loaded more of, stay; the end shows them all anew.
    if (this.filling || !rows || rows.contains(document.activeElement)) return;
    if (rows.children.length > MAX_LIVE_ROWS) return;
    this.filling = true;
    const response = await fetch(`${this.base}/rows${location.search}`).catch(() => null);
    if (response?.ok && !this.over) {
      rows.innerHTML = await response.text();
      watchRows(rows);
      this.count = count;
    }
    this.filling = false;
  }

  async finish(why = "") {
    if (this.over) return;
    this.over = true;
    clearInterval(this.ticking);
    if (this.stream) this.stream.close();
    const response = await fetch(location.pathname + this.query).catch(() => null);
    if (!response || !response.ok) return location.reload();
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    for (const id of ["main", "thread"]) this.at(id).replaceWith(page.getElementById(id));
    sayDone(page.title);
    localTimes(this.at("main"));
    watchRows(this.at("thread"));
    const caution = this.at("main").querySelector(".caution");
    if (why && caution) caution.textContent = `${why} ${caution.textContent}`;
    // A screen reader continues at the answer.
    const article = this.at("main").querySelector(":scope > article, .caution");
    if (article) {
      article.tabIndex = -1;
      article.focus({ preventScroll: true });
    }
  }

  listen() {
    return new Promise((done) => {
      const stream = new EventSource(`${this.base}/events${this.query}`);
      this.stream = stream;
      stream.addEventListener("state", (event) => {
        this.show(JSON.parse(event.data));
        if (this.over) done();
      });
      for (const name of ["stopped", "end"])
        stream.addEventListener(name, (event) => {
          this.finish(JSON.parse(event.data).why);
          done();
        });
      stream.onerror = () => {
        this.say("The connection was lost; trying again …");
        // After a refusal a browser does not try again by itself.
        if (stream.readyState === EventSource.CLOSED) setTimeout(() => done(this.poll()), POLL_MS);
      };
    });
  }

  async poll() {
    while (!this.over) {
      try {
        const response = await fetch(`${this.base}/state${this.query}`);
        if (response.ok) this.show(await response.json());
        else if (response.status < 500) return this.finish();
        else throw new Error(response.status);
      } catch {
        this.say("The connection was lost; trying again …");
      }
      await new Promise((wake) => setTimeout(wake, POLL_MS));
    }
  }

  async begin() {
    if (!navigator.locks) return this.listen();
    for (let slot = 0; slot < SLOTS; slot++) {
      const had = await navigator.locks.request(
        `council-stream-${slot}`,
        { ifAvailable: true },
        async (lock) => {
          if (lock) await this.listen();
          return Boolean(lock);
        },
      );
      if (had) return;
    }
    return this.poll();
  }
}

// The title of a tab that nobody looks at says that the answer is there.
function sayDone(title) {
  document.title = document.hidden ? `✓ ${title}` : title;
  addEventListener("visibilitychange", () => (document.title = title), { once: true });
}

async function untilReady(line) {
  while (line) {
    await new Promise((wake) => setTimeout(wake, POLL_MS));
    const response = await fetch("/readyz").catch(() => null);
    if (!response) continue;
    const found = await response.json();
    line.textContent = found.why || "The models are ready.";
    if (!found.why) return;
  }
}

// Copies a field, or the block of code before a button.
async function copy(button) {
  const source = document.getElementById(button.dataset.copy) ?? button.previousElementSibling;
  const text = source.value ?? source.textContent;
  source.select?.();
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Without permission or HTTPS, what is selected can still be copied; Ctrl+C does, too.
    if (!source.select) getSelection().selectAllChildren(source);
    if (!document.execCommand("copy")) return;
  }
  const label = button.textContent;
  if (label === "Copied") return;
  button.textContent = "Copied";
  setTimeout(() => (button.textContent = label), 2000);
}

// Without this script, the page in the dialog opens as a page.
async function showInDialog(address, options) {
  const response = await fetch(address, options).catch(() => null);
  if (!response) return location.reload();
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  let dialog = document.querySelector("dialog");
  if (!dialog) dialog = document.body.appendChild(document.createElement("dialog"));
  dialog.replaceChildren(...page.getElementById("main").childNodes);
  dialog.setAttribute("aria-label", dialog.querySelector("h1").textContent);
  localTimes(dialog);
  if (!dialog.open) dialog.showModal();
  dialog.querySelector("button.go")?.focus();
}

addEventListener("submit", (event) => {
  const form = event.target;
  if (!form.closest("dialog") || form.method === "dialog") return;
  event.preventDefault();
  showInDialog(form.action, { method: "POST", body: new URLSearchParams(new FormData(form)) });
});

// The colours change at once; the server remembers them.
addEventListener("submit", (event) => {
  const form = event.target;
  if (!form.matches(".theme")) return;
  event.preventDefault();
  const theme = event.submitter.value;
  document.documentElement.dataset.theme = theme;
  document.querySelector("meta[name=color-scheme]").content = theme || "light dark";
  for (const button of form.querySelectorAll("button"))
    button.setAttribute("aria-pressed", String(button === event.submitter));
  const body = new URLSearchParams(new FormData(form, event.submitter));
  fetch(form.action, { method: "POST", body, redirect: "manual", keepalive: true });
});

function closeMenus(except) {
  for (const menu of document.querySelectorAll("details.menu[open]"))
    if (!menu.contains(except)) menu.open = false;
}

addEventListener("keydown", (event) => {
  const field = document.querySelector("form.ask textarea, input[type=search]");
  const types = event.target.closest?.("input, textarea, select, [contenteditable]");
  if (event.key === "/" && field && !types && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    field.focus();
  }
  const menu = event.key === "Escape" && document.querySelector("details.menu[open]");
  if (!menu) return;
  closeMenus(null);
  menu.querySelector("summary").focus();
});
addEventListener("click", (event) => {
  closeMenus(event.target);
  const opener = event.target.closest?.("a[data-dialog]");
  if (opener && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
    event.preventDefault();
    showInDialog(opener.href);
  }
  const button = event.target.closest?.("[data-copy]");
  if (button) copy(button);
  const link = event.target.closest?.('a[href="#answers"]');
  if (link) for (const answer of document.querySelectorAll("#answers details")) answer.open = true;
});

// A form with a row for each question: rows are added and removed without loading the page.
function numberRows(form) {
  form.querySelectorAll("fieldset.row").forEach((row, i) => {
    row.querySelector("legend").textContent = `Question ${i + 1}`;
    row.querySelector("[data-remove]").setAttribute("aria-label", `Remove question ${i + 1}`);
  });
}

function rowForm(form) {
  form.addEventListener("click", (event) => {
    const button = event.target.closest("[data-add], [data-remove]");
    const rows = form.querySelectorAll("fieldset.row");
    if (!button || !rows.length) return;
    const last = rows[rows.length - 1];
    if ("add" in button.dataset) {
      if (rows.length >= Number(form.dataset.rows)) return;
      const row = last.cloneNode(true);
      for (const cell of row.querySelectorAll("input, textarea")) cell.value = "";
      row.querySelector("select").selectedIndex = 0;
      last.after(row);
      row.querySelector("textarea").focus();
    } else {
      if (rows.length === 1) return;
      const row = button.closest("fieldset");
      (row.nextElementSibling.matches("fieldset") ? row.nextElementSibling : row.previousElementSibling)
        .querySelector("textarea")
        .focus();
      row.remove();
    }
    numberRows(form);
  });
}

// A suite is named after its file, unless it has a name.
function dropForm(form) {
  const { file, name } = form.elements;
  takesFiles(form, file);
  file.addEventListener("change", () => {
    if (file.files.length && !name.value)
      name.value = file.files[0].name.replace(/\.[^.]*$/, "").replace(/[^\w.-]+/g, "-");
  });
}

// The next runs of a schedule, while its form is filled in.
function scheduleForm(form) {
  if (!form.elements.time) return;
  let asked = 0;
  const show = async () => {
    const nth = ++asked;
    const fields = new URLSearchParams(new FormData(form));
    fields.delete("token");
    const response = await fetch(`${form.dataset.next}?${fields}`).catch(() => null);
    if (!response || !response.ok || nth !== asked) return;
    const { line, wrong } = await response.json();
    const runs = document.getElementById("runs");
    runs.textContent = line;
    runs.classList.toggle("wrong", wrong);
  };
  form.addEventListener("input", (event) => event.target.name !== "name" && show());
}

for (const form of document.querySelectorAll("form[data-rows]")) rowForm(form);
for (const form of document.querySelectorAll("form[data-drop]")) dropForm(form);
for (const form of document.querySelectorAll("form[data-next]")) scheduleForm(form);

// Rows of a long table load as they come into view; without this script, a link shows them.
const nearing = new IntersectionObserver(
  (entries) => {
    for (const entry of entries) if (entry.isIntersecting) loadRows(entry.target);
  },
  { rootMargin: "600px" },
);

async function loadRows(link) {
  nearing.unobserve(link);
  const response = await fetch(link.dataset.rows).catch(() => null);
  if (!response || !response.ok) return;
  const rows = document.createElement("tbody");
  rows.innerHTML = await response.text();
  watchRows(rows);
  link.closest("tr").replaceWith(...rows.children);
}

function watchRows(root) {
  for (const link of root.querySelectorAll("a[data-rows]")) nearing.observe(link);
}

watchRows(document);
localTimes(document);
for (const form of document.querySelectorAll("form.ask")) new Composer(form);
untilReady(document.querySelector("[data-state]"));
const live = document.querySelector("[data-round]");
if (live) new Live(live).begin();
