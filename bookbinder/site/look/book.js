// Small helpers of the site; the pages read well without them.
(() => {
  const above = () => {
    // The heading that a link has led to stands below the header, in the upper third.
    let last = "";
    for (const section of document.querySelectorAll("article section")) {
      const heading = section.querySelector("h1, h2, h3, h4");
      if (heading && heading.getBoundingClientRect().top < innerHeight / 3) last = heading;
    }
    return last ? last.textContent.replace(/#$/, "").trim().replaceAll(" ", "-") : "";
  };
  // A link in or around a fold opens it.
  const unfold = () => {
    const goal = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let up = goal; up; up = up.parentElement) if (up.tagName === "DETAILS") up.open = true;
  };
  // An equation that is wider than its column is set smaller, down to what can still be read.
  const LEAST = 0.7;
  const fit = () => {
    for (const box of document.querySelectorAll("div.math")) {
      box.style.fontSize = "";
      const part = (box.clientWidth - 1) / box.scrollWidth;
      if (box.clientWidth && box.scrollWidth > box.clientWidth)
        box.style.fontSize = `${100 * Math.max(LEAST, part)}%`;
    }
  };
  const BOXES = "div.math, span.math.wide, mjx-container[display], .output, .cell_output, .parts, .d2l-explorer, pre, .pst-scrollable-table-container";
  const reachable = () => {
    // What scrolls sideways must be reachable by keyboard.
    const room = document.querySelector("main")?.clientWidth;
    if (!room) return; // on a phone, a resize comes before the page stands
    fit();
    for (const math of document.querySelectorAll("span.math mjx-container"))
      math.parentElement.classList.toggle("wide", math.getBoundingClientRect().width > 0.8 * room);
    for (const box of document.querySelectorAll(BOXES)) {
      const over = box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight;
      if (over) box.tabIndex = 0;
    }
  };
  document.addEventListener("DOMContentLoaded", () => {
    unfold();
    for (const link of document.querySelectorAll(".book-editions a"))
      link.addEventListener("click", () => {
        const here = above();
        const goal = here && JSON.parse(link.dataset.anchors || "{}")[here];
        if (goal) link.hash = encodeURIComponent(goal);
      });
  });
  addEventListener("hashchange", unfold);
  addEventListener("load", () => (window.MathJax?.startup?.promise ?? Promise.resolve()).then(reachable));
  addEventListener("toggle", reachable, true); // a fold that opens
  addEventListener("resize", reachable);
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open])")];
    for (const fold of opened) fold.open = true;
  });
  addEventListener("afterprint", () => { for (const fold of opened) fold.open = false; });
})();
