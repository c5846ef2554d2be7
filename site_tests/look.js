() => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const over = (boxes, least = 0) => boxes.filter((b) => b.scrollWidth > b.clientWidth + least)
    .map((b) => `${b.scrollWidth - b.clientWidth} px: ${b.id || b.textContent.slice(0, 60)}`);
  const equations = all("div.math").filter((box) => box.clientWidth);
  const clipped = all("div.math, div.math > mjx-container")
    .filter((b) => getComputedStyle(b).overflowY !== "visible" && b.scrollHeight > b.clientHeight);
  const size = (element) => parseFloat(getComputedStyle(element).fontSize);
  const scale = (b) => size(b.querySelector("mjx-container")) / size(b.closest("p, li, dd, section")) / 1.08;
  const alone = all("article *").filter((e) => { // the sign after it has slipped to the next line
    const sign = e.nextSibling;
    if (e.closest("pre, details:not([open])") || sign?.nodeType !== Node.TEXT_NODE || !/^[.,;:!?)\]”’]/.test(sign.data)) return false;
    const range = document.createRange();
    range.setStart(sign, 0);
    range.setEnd(sign, 1);
    const end = [...e.getClientRects()].at(-1), start = range.getBoundingClientRect();
    return end?.width && start.width && start.left < end.right - 2;
  });
  const beyond = (fold) => [...fold.querySelectorAll("p, li, pre")]
    .filter((e) => e.getBoundingClientRect().right > fold.getBoundingClientRect().right);
  return {
    width: document.documentElement.scrollWidth,
    cut: over(equations, 1),
    clipped: clipped.map((b) => b.closest(".math").textContent),
    small: equations.filter((b) => scale(b) < 0.9).map((b) => `${Math.round(100 * scale(b))} %: ${b.id || b.dataset.tex}`),
    alone: alone.map((e) => `${e.textContent}${e.nextSibling.data.slice(0, 40)}`),
    code: over(all("div.cell_input pre, .output.stream pre")),
    errors: over(all(".output.traceback pre, details.calls pre")),
    hints: all("details.hint").flatMap(beyond).map((e) => e.textContent.slice(0, 60)),
  };
}
