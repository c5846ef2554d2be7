// What a reference leads to, shown beside it: equations, terms and sources.
(() => {
  const KINDS = /#(equation|term|reference)-/;
  const WAIT = 150; // ms, so that a pointer on its way opens nothing
  let box, shown, timer;
  const load = () => new Promise((done) => { // the texts of the whole site, only when asked for
    if (globalThis.PREVIEWS_THERE) return done();
    const script = document.createElement("script");
    script.src = document.querySelector("script[src$='previews.js'], script[src*='previews.js?']")
      .src.replace(/previews\.js.*$/, "preview-texts.js");
    script.onload = () => { globalThis.PREVIEWS_THERE = true; done(); };
    document.head.append(script);
  });
  const hide = () => {
    clearTimeout(timer);
    if (shown) shown.removeAttribute("aria-describedby");
    shown = undefined;
    box?.remove();
    box = undefined;
  };
  const place = (link) => {
    const at = link.getClientRects()[0] ?? link.getBoundingClientRect();
    const room = document.documentElement.clientWidth;
    const left = Math.max(8, Math.min(at.left, room - box.offsetWidth - 8));
    const above = at.top > box.offsetHeight + 12 && at.bottom + box.offsetHeight + 12 > innerHeight;
    const top = above ? at.top - box.offsetHeight - 6 : at.bottom + 6;
    Object.assign(box.style, { left: `${left + scrollX}px`, top: `${top + scrollY}px` });
  };
  const show = async (link) => {
    if (link === shown) return;
    hide();
    shown = link;
    await load();
    const url = new URL(link.href);
    const html = PREVIEWS[`${url.pathname.split("/").pop()}${decodeURIComponent(url.hash)}`];
    if (!html || shown !== link) return;
    box = document.createElement("div");
    box.className = "book-preview";
    box.id = "book-preview";
    box.setAttribute("role", "tooltip");
    box.innerHTML = html;
    const tex = box.querySelector("div.math")?.dataset.tex; // an equation is read as it is written
    if (tex) box.setAttribute("aria-label", tex);
    box.addEventListener("pointerleave", later);
    box.addEventListener("pointerenter", () => clearTimeout(timer));
    document.body.append(box);
    link.setAttribute("aria-describedby", box.id);
    place(link);
  };
  const later = () => {
    clearTimeout(timer);
    timer = setTimeout(hide, WAIT);
  };
  const link = (event) => {
    const found = event.target.closest?.("article a[href]");
    return found && KINDS.test(found.hash) ? found : null;
  };
  document.addEventListener("pointerover", (event) => {
    const found = event.pointerType !== "touch" && link(event); // a tap follows the link
    if (!found) return;
    clearTimeout(timer);
    timer = setTimeout(show, WAIT, found);
  });
  document.addEventListener("pointerout", (event) => { if (link(event)) later(); });
  document.addEventListener("focusin", (event) => {
    const found = link(event);
    if (found?.matches(":focus-visible")) show(found);
    else hide();
  });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
  addEventListener("pagehide", hide);
})();
