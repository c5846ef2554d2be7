// What one visit learns of a page, at the width of a laptop.
async () => {
  const drawn = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  await document.fonts.ready;
  // What the new width asks for is drawn until nothing has moved for a while.
  for (let still = 0, before = 0; still < 8; await drawn()) {
    still = before === document.documentElement.scrollHeight ? still + 1 : 0;
    before = document.documentElement.scrollHeight;
  }
  const all = (selector) => [...document.querySelectorAll(selector)];
  const height = document.documentElement.scrollHeight;
  const images = [...document.images];
  for (const image of images) image.loading = "eager";
  await Promise.all(images.map((image) => image.decode().catch(() => {})));
  const hidden = "script, style, code, pre, mjx-container, .math, .d2l-explorer, noscript";
  const words = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode())
    if (!walk.currentNode.parentElement.closest(hidden)) words.push(walk.currentNode.data);
  const math = all(".math");
  // Stretches without a picture: how long each is, and the heading that it begins under.
  const article = document.querySelector("article") ?? document.body; // of the search, too
  const top = article.getBoundingClientRect().top;
  const place = (e) => { const box = e.getBoundingClientRect(); return [box.top - top, box.bottom - top]; };
  const seen = [...article.querySelectorAll("img, .d2l-explorer, .d2l-arcs, .attention-widget")]
    .filter((picture) => picture.checkVisibility() && picture.offsetHeight >= 40)
    .map(place).sort((a, b) => a[0] - b[0]);
  const headings = [...article.querySelectorAll("h2, h3")].map((h) => [place(h)[0], h.textContent]);
  const end = article.getBoundingClientRect().height;
  let at = 0;
  const stretches = [...seen, [end, end]].map(([begin, after]) => {
    const stretch = [Math.round(begin - at), headings.findLast(([y]) => y <= at)?.[1] ?? "the top"];
    at = Math.max(at, after);
    return stretch;
  });
  const growth = document.documentElement.scrollHeight - height; // while pictures load
  for (const fold of all("details")) fold.open = true;
  await drawn();
  return {
    growth,
    text: words.join(" "),
    unset: math.filter((m) => !m.querySelector("mjx-container")).map((m) => m.textContent),
    guessed: all("mjx-utext").map((m) => m.textContent), // letters that MathJax's fonts lack
    images: images.map((i) => ({ src: i.src.slice(0, 200), width: i.naturalWidth, alt: i.alt })),
    edges: [...new Set(all("article :is(section > p, div.cell > div.cell_input, section > div.math, .box, .d2l-explorer)")
      .map((block) => Math.round(block.getBoundingClientRect().right)).filter(Boolean))],
    links: all("a[href]").map((a) => a.href),
    stretches,
    // With all folds open, equations, code and printed lines stand whole.
    cut: all("div.math, div.cell_input pre, .output.stream pre, .output.traceback pre")
      .filter((box) => box.clientWidth && box.scrollWidth > box.clientWidth + 1)
      .map((b) => `${b.scrollWidth - b.clientWidth} px: ${b.id || b.textContent.slice(0, 60)}`),
  };
}
