// Small helpers of the site; the pages read well without them.
(() => {
  const say = (text) => globalThis.d2lWords?.[text] ?? text; // only translated editions have words
  // The theme says "auto" until its own script runs, which would color the whole page anew.
  const { dataset } = document.documentElement;
  if (dataset.theme === "auto") dataset.theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  // Faces are read before the text is laid out, so that no line moves when they are there.
  for (const face of document.fonts) if (/Source/.test(face.family)) face.load();
  // A heading has the same name in all frameworks, and the same number in all languages.
  const headings = () => [...document.querySelectorAll("article section > :is(h1, h2, h3, h4)")];
  const NUMBER = /^#heading:(\d+)$/;
  const addressed = (link) => {
    // The heading that a link has led to stands below the header, in the upper third.
    const all = headings(), last = all.findLastIndex((h) => h.getBoundingClientRect().top < innerHeight / 3);
    const name = all[last]?.textContent.replace(/#$/, "").trim().replaceAll(" ", "-");
    if (last > 0) link.hash = link.closest(".book-languages") ? `heading:${last}` : encodeURIComponent(name);
  };
  // A link in or around a fold opens it.
  const unfold = () => {
    const goal = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let up = goal; up; up = up.parentElement) if (up.tagName === "DETAILS") up.open = true;
  };
  const BOXES = "div.math, span.math.wide, .output, .cell_output, .parts, .d2l-explorer, pre, .pst-scrollable-table-container";
  const reachable = () => {
    // What scrolls sideways must be reachable by keyboard.
    const over = [...document.querySelectorAll(BOXES)]
      .filter((box) => box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight);
    for (const box of over) box.tabIndex = 0; // after all sizes are read: the page is laid out once
  };
  // An output that the text asks the reader to predict is covered until the reader has decided.
  document.documentElement.classList.add("has-script");
  const cover = () => {
    for (const output of document.querySelectorAll(".tag_decide .cell_output")) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "uncover";
      button.textContent = say("Decide first, then show the output");
      output.inert = true;
      output.before(button);
      button.addEventListener("click", () => {
        output.inert = false;
        output.closest(".tag_decide").classList.add("uncovered");
        output.tabIndex = -1;
        output.focus({ preventScroll: true });
        button.remove();
      });
    }
  };
  // An equation is copied as its TeX.
  document.addEventListener("copy", (event) => {
    const chosen = getSelection();
    if (!chosen.rangeCount || event.target.closest?.("input, textarea")) return;
    const part = chosen.getRangeAt(0).cloneContents();
    const equations = part.querySelectorAll("[data-tex]");
    for (const math of equations) math.replaceWith(math.matches("div") ? `$$ ${math.dataset.tex} $$` : `$${math.dataset.tex}$`);
    if (!equations.length) return;
    event.clipboardData.setData("text/plain", part.textContent);
    event.preventDefault();
  });
  // Code can be copied.
  const copied = async (text) => {
    if (navigator.clipboard) return navigator.clipboard.writeText(text);
    const area = Object.assign(document.createElement("textarea"), { value: text });
    document.body.append(area);
    area.select();
    document.execCommand("copy"); // where the page comes over http
    area.remove();
  };
  const offerCopies = () => {
    for (const code of document.querySelectorAll("article div.highlight > pre")) {
      if (code.closest(".cell_output, dl.py")) continue;
      const button = document.createElement("button");
      button.type = "button";
      button.className = "copy";
      button.textContent = say("Copy");
      button.setAttribute("aria-label", say("Copy the code"));
      button.tabIndex = -1; // one for each cell, between all links
      button.addEventListener("click", () =>
        copied(code.textContent.trimEnd() + "\n").then(
          () => { button.textContent = say("Copied"); },
          () => { button.textContent = say("Not allowed"); },
        ).then(() => setTimeout(() => { button.textContent = say("Copy"); }, 1500)));
      code.parentElement.append(button);
    }
  };
  document.addEventListener("DOMContentLoaded", () => {
    for (const lines of document.querySelectorAll(":is(.output.text_plain, .output.stream) pre")) // book.css sets them
      lines.style.setProperty("--letters", Math.max(...lines.textContent.split("\n").map((line) => line.length)));
    unfold();
    cover();
    offerCopies();
    for (const link of document.querySelectorAll(":is(.book-editions, .book-languages) a"))
      link.addEventListener("click", () => addressed(link));
    const number = NUMBER.exec(location.hash)?.[1];
    if (number) location.replace(`#${encodeURIComponent(headings()[number]?.parentElement.id ?? "")}`);
    const menu = document.querySelector(".book-languages");
    if (menu) {
      document.addEventListener("click", (event) => { if (!menu.contains(event.target)) menu.open = false; });
      menu.addEventListener("keydown", (event) => {
        if (event.key !== "Escape") return;
        menu.open = false;
        menu.querySelector("summary").focus();
      });
    }
  });
  // The home page offers to go on where the reader left off; only this browser knows.
  const keep = () => {
    const page = document.querySelector("[data-book-chapter]")?.dataset.bookChapter;
    if (!page) return;
    let section = "";
    for (const part of document.querySelectorAll("article section[id]"))
      if (part.getBoundingClientRect().top < innerHeight / 2) section = part.id;
    const first = document.querySelector("article section[id]")?.id;
    const left = { page, section: section === first ? "" : section };
    try { localStorage.setItem("book-left-off", JSON.stringify(left)); } catch { /* not allowed */ }
  };
  const goOn = () => {
    const link = document.querySelector(".go-on");
    if (!link) return;
    let left = null;
    try { left = JSON.parse(localStorage.getItem("book-left-off")); } catch { /* not allowed */ }
    const links = left ? [...document.querySelectorAll(".bd-links a")] : [];
    const chapter = links.find((a) => a.pathname.endsWith(`/${left.page}.html`));
    if (!chapter) return;
    link.href = chapter.getAttribute("href") + (left.section ? `#${left.section}` : "");
    link.textContent = link.textContent.replace("{chapter}", chapter.textContent.trim());
    link.hidden = false;
  };
  addEventListener("DOMContentLoaded", goOn);
  addEventListener("pagehide", keep);
  addEventListener("visibilitychange", keep); // a phone that ends the browser sends no pagehide
  addEventListener("hashchange", unfold);
  addEventListener("load", reachable);
  let asked = 0;
  addEventListener("toggle", () => { // folds that open, many at once
    cancelAnimationFrame(asked);
    asked = requestAnimationFrame(reachable);
  }, true);
  addEventListener("resize", reachable);
})();

// Chapter 0's five steps: one picture that stays and changes as the reader scrolls.
addEventListener("DOMContentLoaded", () => {
  const steps = ["query", "scores", "mask", "weights", "sum"].map((s) => document.querySelector(`.bd-article img[src*="/strip_${s}."]`));
  if (steps.includes(null)) return;
  const cues = steps.map((img) => img.parentElement.previousElementSibling); // the text before a step
  const stages = steps.map(({ src, alt }) => ({ src, alt }));
  steps[0].parentElement.classList.add("changing");
  for (const cue of cues.slice(1)) cue.classList.add("cue");
  const still = (on) => { // on paper, all five stand
    for (const img of steps.slice(1)) img.parentElement.hidden = !on;
    if (on) Object.assign(steps[0], stages[0]);
  };
  addEventListener("beforeprint", () => still(true));
  addEventListener("afterprint", () => still(false));
  still(false);
  const change = () => {
    const read = cues.findLastIndex((cue) => cue.getBoundingClientRect().top < innerHeight / 2);
    Object.assign(steps[0], stages[Math.max(0, read)]);
  };
  addEventListener("scroll", change, { passive: true });
  change();
});
