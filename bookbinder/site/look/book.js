// Small helpers of the site; the pages read well without them.
const say = (text) => globalThis.d2lWords?.[text] ?? text; // only translated editions have words
const all = (selector, part = document) => [...part.querySelectorAll(selector)];
const make = (tag, properties, ...parts) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...parts);
  return element;
};

{ // Before the page is laid out: it has its colors and its faces, and hides what is to be decided.
  const { classList, dataset } = document.documentElement;
  if (dataset.theme === "auto") dataset.theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  for (const face of document.fonts) if (/Source/.test(face.family)) face.load();
  classList.add("has-script");
}

// The number of the heading that is read, and its name. It has the same name in all frameworks,
// and the same number in all languages; there is none at the title.
const headings = () => all("article section > :is(h1, h2, h3, h4)");
const reading = () => {
  const number = headings().findLastIndex((h) => h.getBoundingClientRect().top < innerHeight / 3);
  return number > 0 ? { number, name: headings()[number].parentElement.id } : null;
};
addEventListener("DOMContentLoaded", () => {
  const number = /^#heading:(\d+)$/.exec(location.hash)?.[1];
  if (number) location.replace(`#${encodeURIComponent(headings()[number]?.parentElement.id ?? "")}`);
  for (const link of all(":is(.book-editions:not(.of-guest), .book-languages) a:not([href*='#'])"))
    link.addEventListener("click", () => {
      const at = reading();
      if (at) link.hash = link.closest(".book-languages") ? `heading:${at.number}` : encodeURIComponent(at.name);
    });
});

// The home page offers to go on where the reader left off; only this browser knows.
const keep = () => {
  const page = document.querySelector("[data-book-chapter]")?.dataset.bookChapter, at = reading();
  if (page) localStorage.setItem("book-left-off", page + ".html" + (at ? `#${at.name}` : ""));
};
addEventListener("pagehide", keep);
addEventListener("visibilitychange", keep); // a phone that ends the browser sends no pagehide
addEventListener("DOMContentLoaded", () => {
  const link = document.querySelector(".go-on"), left = localStorage.getItem("book-left-off");
  const chapter = link && left && all(".bd-links a").find((a) => left.startsWith(a.getAttribute("href")));
  if (!chapter) return;
  link.href = left;
  link.textContent = link.textContent.replace("{chapter}", chapter.textContent.trim());
  link.hidden = false;
});

// An output that the text asks the reader to predict is covered until the reader has decided.
addEventListener("DOMContentLoaded", () => {
  for (const output of all(".tag_decide .cell_output")) {
    output.inert = true;
    const uncover = make("button", { className: "uncover" }, say("Decide first, then show the output"));
    uncover.onclick = () => {
      output.inert = false;
      output.classList.add("uncovered");
      output.tabIndex = -1;
      output.focus({ preventScroll: true });
      uncover.remove();
    };
    output.before(uncover);
  }
});

// Code can be copied, and an equation is copied as its TeX.
addEventListener("DOMContentLoaded", () => {
  for (const code of all("article div.highlight > pre")) {
    if (code.closest(".cell_output, dl.py")) continue;
    const copy = make("button", { className: "copy", ariaLabel: say("Copy the code"), tabIndex: -1 }, say("Copy"));
    copy.onclick = async () => { // out of the order of Tab: one for each cell, between all links
      const text = code.textContent.trimEnd() + "\n";
      const written = navigator.clipboard?.writeText(text) ?? Promise.reject(); // not over http
      copy.textContent = await written.then(() => say("Copied"), () => say("Not allowed"));
      setTimeout(() => { copy.textContent = say("Copy"); }, 1500);
    };
    code.after(copy);
  }
});
document.addEventListener("copy", (event) => {
  const part = getSelection().rangeCount ? getSelection().getRangeAt(0).cloneContents() : null;
  const equations = part && !event.target.closest?.("input, textarea") ? all("[data-tex]", part) : [];
  if (!equations.length) return;
  for (const math of equations) math.replaceWith(math.matches("div") ? `$$ ${math.dataset.tex} $$` : `$${math.dataset.tex}$`);
  event.clipboardData.setData("text/plain", part.textContent);
  event.preventDefault();
});

// What scrolls sideways must be reachable by keyboard; printed lines are as small as book.css says.
addEventListener("DOMContentLoaded", () => {
  const BOXES = "div.math, span.math.wide, .output, .cell_output, .parts, .d2l-explorer, pre, .pst-scrollable-table-container";
  const sizes = new ResizeObserver((changes) => {
    const over = changes.map(({ target }) => target).filter((box) => box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight);
    for (const box of over) box.tabIndex = 0; // after all sizes are read: the page is laid out once
  });
  for (const box of all(BOXES)) sizes.observe(box);
  for (const lines of all(":is(.output.text_plain, .output.stream) pre"))
    lines.style.setProperty("--letters", Math.max(...lines.textContent.split("\n").map((line) => line.length)));
});
