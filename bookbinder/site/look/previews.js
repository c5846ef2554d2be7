// What a reference leads to, shown beside it: equations, terms and sources.
{
  const WAIT = 150; // ms, so that a pointer on its way opens nothing
  const box = make("div", { className: "book-preview", id: "book-preview", role: "tooltip" });
  const { src } = document.currentScript;
  let shown, timer, texts;
  const load = () => texts ??= new Promise((onload) => { // of the whole site, only when asked for
    document.head.append(make("script", { src: src.replace(/previews\.js.*/, "preview-texts.js"), onload }));
  });
  const hide = () => {
    clearTimeout(timer);
    shown?.removeAttribute("aria-describedby");
    shown = undefined;
    box.remove();
  };
  const later = (action, ...values) => {
    clearTimeout(timer);
    timer = setTimeout(action, WAIT, ...values);
  };
  const show = async (link) => {
    if (link === shown) return;
    hide();
    shown = link;
    await load();
    const html = PREVIEWS[link.pathname.split("/").pop() + decodeURIComponent(link.hash)];
    if (!html || shown !== link) return;
    box.innerHTML = html;
    box.ariaLabel = box.querySelector("div.math")?.dataset.tex ?? null; // an equation is read as it is written
    document.body.append(box);
    link.setAttribute("aria-describedby", box.id);
    const at = link.getClientRects()[0], room = document.documentElement.clientWidth;
    const left = Math.max(8, Math.min(at.left, room - box.offsetWidth - 8));
    const isAbove = at.top > box.offsetHeight + 12 && at.bottom + box.offsetHeight + 12 > innerHeight;
    const top = isAbove ? at.top - box.offsetHeight - 6 : at.bottom + 6;
    Object.assign(box.style, { left: `${left + scrollX}px`, top: `${top + scrollY}px` });
  };
  const reference = ({ target }) => {
    const link = target.closest?.("article a[href]");
    return /#(equation|term|reference)-/.test(link?.hash) ? link : null;
  };
  box.addEventListener("pointerleave", () => later(hide));
  box.addEventListener("pointerenter", () => clearTimeout(timer));
  document.addEventListener("pointerover", (event) => {
    if (event.pointerType !== "touch" && reference(event)) later(show, reference(event)); // a tap follows the link
  });
  document.addEventListener("pointerout", (event) => { if (reference(event)) later(hide); });
  document.addEventListener("focusin", (event) => {
    const link = reference(event);
    if (link?.matches(":focus-visible")) show(link);
    else hide();
  });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
  addEventListener("pagehide", hide);
}
