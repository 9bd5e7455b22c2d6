// Sends answers so that none is lost: what is answered is kept in this browser before it is sent and until the server
// says that it is stored. The same answer is sent again under the same key (client_key); the server stores it once.
// Without this script the same forms are posted as they are.
"use strict";
(() => {
  const PATIENCE = 8000; // ms until a request without an answer counts as failed
  const SOON = 1500; // ms without an answer after which the page says that nothing is saved yet
  const LONGEST = 3500; // ms between two attempts, unless the server asks for more
  const TOO_EARLY = 250; // ms in which no one can have read a page: the second press of a double click
  const UNSENT = "lexiscope:unsent:";
  const DRAFT = "lexiscope:draft:";

  const banner = document.getElementById("saving");
  const owner = document.body.dataset.owner || "";
  const page = document.body.dataset.page || "";
  const answer = document.getElementById("answer");
  let locked = false;
  let seen = null; // performance.now() when the page was first visible

  // -- what this browser keeps ---------------------------------------------------------------------------------
  const memory = new Map(); // used if the browser keeps nothing for pages
  const kept = {
    get(name) { try { return localStorage.getItem(name); } catch { return memory.get(name) ?? null; } },
    set(name, text) { try { localStorage.setItem(name, text); } catch { memory.set(name, text); } },
    drop(name) { try { localStorage.removeItem(name); } catch { /* nothing is kept */ } memory.delete(name); },
    names(start) {
      let all = [...memory.keys()];
      try { all = all.concat(Object.keys(localStorage)); } catch { /* nothing is kept */ }
      return all.filter((name) => name.startsWith(start));
    },
  };

  const unsent = () => kept.names(UNSENT).map((name) => {
    try { return JSON.parse(kept.get(name)); } catch { return null; }
  }).filter((entry) => entry && entry.owner === owner).sort((a, b) => a.since - b.since);

  function renewed(entry) { // the page's own token, where this is the same participant's page
    const token = owner && answer && answer.elements.namedItem("csrf");
    const fields = new URLSearchParams(entry.body);
    if (token) fields.set("csrf", token.value);
    return { ...entry, body: fields.toString(), form: true };
  }

  const draftName = (field) => `${DRAFT}${owner}:${field.form.action}:${field.name}`;

  // -- sending -------------------------------------------------------------------------------------------------
  const wait = (ms) => new Promise((done) => {
    const timer = setTimeout(done, ms);
    addEventListener("online", () => { clearTimeout(timer); done(); }, { once: true });
  });

  function afterwards(answered) { // Retry-After in seconds or as a date
    const text = answered.headers.get("Retry-After");
    if (!text) return 0;
    const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
    return Number.isFinite(ms) ? Math.max(0, ms) : 0;
  }

  async function read(answered) {
    const told = await answered.json().catch(() => null);
    const { status } = answered;
    if (answered.ok && typeof told?.next === "string") return { next: told.next };
    if (answered.ok && answered.redirected) return { next: answered.url };
    if (status === 409 && typeof told?.next === "string") return { next: told.next };
    const refused = status >= 400 && status < 500 && ![408, 425, 429].includes(status);
    // a refusal that does not read like the server's comes from something between: the answer is kept and sent again
    if (refused && told?.error) return { error: told.error, keep: status === 401 || status === 403 };
    return { again: true, after: afterwards(answered) };
  }

  async function post(entry) {
    const stop = new AbortController();
    const timer = setTimeout(() => stop.abort(), PATIENCE);
    const headers = { Accept: "application/json", "Content-Type": "application/x-www-form-urlencoded" };
    try {
      const request = { method: "POST", credentials: "same-origin", headers, body: entry.body, signal: stop.signal };
      return await read(await fetch(entry.action, request));
    } catch {
      return { again: true, after: 0 };
    } finally {
      clearTimeout(timer);
    }
  }

  async function deliver(entry) { // until the server has stored it or has rejected it
    let pause = 500;
    let failed = false;
    for (;;) {
      const slow = setTimeout(() => say("waiting"), SOON);
      const told = await post(entry);
      clearTimeout(slow);
      if (!told.again) {
        // without a session or with an old page the answer itself is good: it is sent again from the next page
        if (!told.keep) kept.drop(UNSENT + entry.key);
        return { ...told, failed };
      }
      failed = true;
      say("waiting");
      await wait(Math.max(told.after, pause * (0.75 + Math.random() / 2)));
      pause = Math.min(pause * 2, LONGEST);
    }
  }

  async function send(entry) {
    const here = !entry.form || [...document.querySelectorAll("form[data-answer]")].some((f) => f.action === entry.action);
    if (here) lock(true);
    const told = await deliver(entry);
    if (told.next) {
      // another word has the same address: a draft of this one must not come up there
      const over = here ? [...document.querySelectorAll("form[data-answer]")].map((form) => form.action) : [entry.action];
      over.forEach((action) => kept.names(`${DRAFT}${owner}:${action}:`).forEach(kept.drop));
      say("saved");
      if (!here) return;
      if (told.failed) await new Promise((done) => setTimeout(done, 600)); // long enough to be read
      go(told.next);
      return;
    }
    if (here) lock(false);
    refuse(told.error, here);
  }

  function go(next) {
    const url = new URL(next, location.href);
    if (url.origin === location.origin) location.replace(url.href);
    else refuse({ message: banner.dataset.refused }, true);
  }

  function say(what, text) {
    banner.className = `banner ${what}`;
    banner.textContent = text || banner.dataset[what] || "";
  }

  function refuse(error, here) {
    const places = here && answer ? [...answer.querySelectorAll("[data-fault]")] : [];
    const place = places.find((each) => each.dataset.fault === (error.field || "")) || places.at(-1);
    if (!place) {
      say("refused", error.message);
      return;
    }
    say("quiet"); // the field has the message; a second one would hide it on a small screen
    place.textContent = error.message || banner.dataset.refused;
    place.hidden = false;
    const fields = [...answer.elements].filter((each) => each.name === `${error.field}-${answer.dataset.suffix}`);
    fields.filter((each) => each.type !== "submit").forEach((each) => each.setAttribute("aria-invalid", "true"));
    const first = fields[0];
    if (first) first.focus();
    else { place.tabIndex = -1; place.focus(); }
  }

  function lock(on) {
    locked = on;
    for (const form of document.querySelectorAll("form[data-answer]")) {
      form.setAttribute("aria-busy", String(on));
      for (const each of form.querySelectorAll("button, input, textarea")) if (each.type !== "hidden") hold(each, on);
    }
  }

  function hold(control, on) { // text stays readable while it is sent; what was disabled before stays so
    if (control.matches("textarea, input[type=text]")) control.readOnly = on;
    else if (on && !control.disabled) { control.disabled = true; control.dataset.held = ""; }
    else if (!on && "held" in control.dataset) { control.disabled = false; delete control.dataset.held; }
  }

  function submit(event) {
    event.preventDefault();
    if (locked) return;
    const form = event.currentTarget;
    const rt = form.elements.namedItem("rt_ms");
    if (rt && seen !== null) rt.value = (performance.now() - seen).toFixed(1);
    form.querySelectorAll("[data-fault]").forEach((each) => { each.hidden = true; });
    form.querySelectorAll("[aria-invalid]").forEach((each) => each.removeAttribute("aria-invalid"));
    const fields = new URLSearchParams(new FormData(form));
    const by = event.submitter;
    if (by && by.name) fields.append(by.name, by.value);
    if (by) by.classList.add("pressed");
    const key = fields.get("client_key") || String(Date.now());
    const entry = { owner, key, action: form.action, body: fields.toString(), since: Date.now() };
    kept.set(UNSENT + key, JSON.stringify(entry));
    say("sending");
    send(entry).finally(() => by && by.classList.remove("pressed"));
  }

  // -- keys ----------------------------------------------------------------------------------------------------
  function digit(event) {
    if (/^[0-9]$/.test(event.key)) return event.key;
    if (/^\p{Nd}$/u.test(event.key) || !event.shiftKey) { // other digits, and keyboards with digits on the second level
      const found = /^(?:Digit|Numpad)(\d)$/.exec(event.code);
      return found ? found[1] : "";
    }
    return "";
  }

  const writing = (target) => target.matches("textarea, select, input:not([type=radio]):not([type=checkbox])");

  function press(event) {
    const inText = writing(event.target);
    if (event.repeat) { // a key that is held answers nothing
      if (!event.target.matches("textarea") && ["Enter", " "].includes(event.key)) event.preventDefault();
      return;
    }
    if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing || event.defaultPrevented) return;
    if (inText || locked || !answer) return;
    const name = digit(event);
    const control = name && answer.querySelector(`[data-key="${name}"]`);
    if (!control || control.disabled) return;
    event.preventDefault();
    control.focus();
    control.click();
  }

  // -- the page ------------------------------------------------------------------------------------------------
  function appear() {
    if (seen !== null || document.visibilityState !== "visible") return;
    seen = performance.now();
    const stamp = answer && answer.elements.namedItem("shown_at");
    if (stamp) stamp.value = new Date().toISOString();
    if (answer && answer.dataset.advance === "press" && !locked) {
      const controls = [...answer.querySelectorAll("[data-key]")];
      controls.forEach((each) => hold(each, true));
      setTimeout(() => { if (!locked) controls.forEach((each) => hold(each, false)); }, TOO_EARLY);
    }
  }

  function keepDraft(field) {
    const stored = kept.get(draftName(field));
    if (stored !== null && !field.value) field.value = stored;
    field.addEventListener("input", () => kept.set(draftName(field), field.value));
    const most = Number(field.dataset.most);
    const count = most && field.closest("form").querySelector("[data-count]");
    if (!count) return;
    const tell = () => {
      const length = [...field.value.trim()].length;
      count.textContent = String(length);
      count.parentElement.classList.toggle("over", length > most);
    };
    field.addEventListener("input", tell);
    tell();
  }

  function once(event) { // other forms are sent by the browser, once
    if (event.target.matches("[data-answer]")) return;
    if (event.target.dataset.sent) event.preventDefault();
    else event.target.dataset.sent = "yes";
  }

  function copying(button) {
    button.hidden = !navigator.clipboard;
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
        button.textContent = button.dataset.copied;
      } catch {
        getSelection().selectAllChildren(document.getElementById(button.dataset.copy));
      }
    });
  }

  // -- instructions ---------------------------------------------------------------------------------------------
  function noting(fold) { // once for each page: that the instructions were opened during a trial
    const note = () => {
      if (!fold.open) return;
      fold.removeEventListener("toggle", note);
      const token = answer && answer.elements.namedItem("csrf");
      const body = new URLSearchParams({ csrf: token ? token.value : "" });
      fetch(fold.dataset.log, { method: "POST", credentials: "same-origin", keepalive: true, body }).catch(() => {});
    };
    fold.addEventListener("toggle", note);
  }

  // -- figures --------------------------------------------------------------------------------------------------
  function stepping(figure) { // one stop of Tab for each figure; arrows move from mark to mark
    const marks = [...figure.querySelectorAll(".mark")];
    figure.addEventListener("keydown", (event) => {
      const at = marks.indexOf(event.target.closest(".mark"));
      const to = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: marks.length - 1 }[event.key];
      if (at < 0 || to === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      const next = marks[Math.min(Math.max(to, 0), marks.length - 1)];
      marks.forEach((each) => each.setAttribute("tabindex", each === next ? "0" : "-1"));
      next.focus();
    });
  }

  // -- search --------------------------------------------------------------------------------------------------
  function searching(box) {
    const input = box.querySelector("[role=combobox]");
    const list = box.querySelector("[role=listbox]");
    const status = box.querySelector("[role=status]");
    const found = box.querySelector(".found");
    let results = [];
    let active = -1;
    let asked = 0;
    let timer = 0;

    function mark(index) {
      active = index;
      [...list.children].forEach((each, place) => each.setAttribute("aria-selected", String(place === index)));
      if (index < 0) input.removeAttribute("aria-activedescendant");
      else {
        input.setAttribute("aria-activedescendant", list.children[index].id);
        list.children[index].scrollIntoView({ block: "nearest" });
      }
    }

    function open(on) {
      list.hidden = !on;
      input.setAttribute("aria-expanded", String(on));
      if (!on) mark(-1);
    }

    function part(tag, text, name) {
      const made = document.createElement(tag);
      made.dir = "auto";
      made.textContent = text;
      if (name) made.className = name;
      return made;
    }

    function row(result, index) {
      const made = document.createElement("li");
      made.id = `${list.id}-${index}`;
      made.setAttribute("role", "option");
      made.setAttribute("aria-selected", "false");
      made.append(part("span", result.title, "result-title"));
      if (result.text) made.append(part("span", result.text, "result-summary"));
      made.addEventListener("pointerdown", (event) => event.preventDefault());
      made.addEventListener("click", () => choose(index));
      return made;
    }

    function choose(index) {
      const result = results[index];
      input.value = result.title;
      if (input.hasAttribute("data-draft")) kept.set(draftName(input), input.value);
      found.replaceChildren(part("strong", result.title));
      if (result.text) found.append(part("p", result.text));
      if (/^https?:\/\//i.test(result.url || "")) {
        const link = part("a", box.dataset.open);
        Object.assign(link, { href: result.url, target: "_blank", rel: "noopener noreferrer" });
        found.append(link);
      }
      found.hidden = false;
      status.textContent = "";
      open(false);
      input.focus();
    }

    async function ask() {
      const query = input.value.trim();
      const mine = ++asked;
      if (!query) { open(false); status.textContent = ""; return; }
      const url = new URL(box.dataset.search, location.href);
      url.searchParams.set("q", query);
      try {
        const answered = await fetch(url, { headers: { Accept: "application/json" }, credentials: "same-origin" });
        const told = answered.ok ? await answered.json() : null;
        if (mine !== asked) return;
        if (!told) throw new Error("no answer");
        results = told; // [{id, title, text, url?}]
        list.replaceChildren(...results.map(row));
        status.textContent = results.length ? box.dataset.some.replace("%(count)s", results.length) : box.dataset.none;
        open(results.length > 0);
        mark(-1);
      } catch {
        if (mine !== asked) return;
        open(false);
        status.textContent = box.dataset.failed;
      }
    }

    input.addEventListener("input", () => {
      found.hidden = true;
      clearTimeout(timer);
      timer = setTimeout(ask, 200);
    });
    input.addEventListener("keydown", (event) => {
      if (event.isComposing || event.ctrlKey || event.altKey || event.metaKey) return;
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (step && list.hidden && results.length) open(true);
      if (step && results.length) {
        event.preventDefault();
        mark(active < 0 && step < 0 ? results.length - 1 : (active + step + results.length) % results.length);
      } else if (event.key === "Escape" && !list.hidden) {
        event.preventDefault();
        open(false);
      } else if (event.key === "Enter" && !list.hidden) {
        event.preventDefault();
        if (active >= 0) choose(active);
      }
    });
    input.addEventListener("blur", () => open(false));
  }

  addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
  document.addEventListener("visibilitychange", appear);
  document.addEventListener("keydown", press);
  document.addEventListener("submit", once);
  document.querySelectorAll("form[data-answer]").forEach((form) => form.addEventListener("submit", submit));
  document.querySelectorAll("[data-draft]").forEach(keepDraft);
  document.querySelectorAll("[data-copy]").forEach(copying);
  document.querySelectorAll("[data-search]").forEach(searching);
  document.querySelectorAll("[data-log]").forEach(noting);
  document.querySelectorAll(".plot-svg").forEach(stepping);
  if (page === "ended") kept.names(`${DRAFT}${owner}:`).forEach(kept.drop);
  appear();
  (async () => { for (const entry of unsent()) await send(renewed(entry)); })();
})();
