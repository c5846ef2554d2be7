() => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const over = (boxes, least = 0) => boxes.filter((b) => b.scrollWidth > b.clientWidth + least)
    .map((b) => `${b.scrollWidth - b.clientWidth} px: ${b.id || b.textContent.slice(0, 60)}`);
  const equations = all("div.math").filter((box) => box.clientWidth);
  const beyond = (fold) => [...fold.querySelectorAll("p, li, pre")]
    .filter((e) => e.getBoundingClientRect().right > fold.getBoundingClientRect().right);
  return {
    width: document.documentElement.scrollWidth,
    cut: over(equations, 1),
    smallest: Math.min(1, ...equations.map((b) => (parseFloat(b.style.fontSize) || 100) / 100)),
    code: over(all("div.cell_input pre, .output.stream pre")),
    errors: over(all(".output.traceback pre, details.calls pre")),
    hints: all("details.hint").flatMap(beyond).map((e) => e.textContent.slice(0, 60)),
  };
}
