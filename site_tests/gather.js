async () => {
  await document.fonts.ready;
  const height = document.documentElement.scrollHeight;
  const images = [...document.images];
  for (const image of images) image.loading = "eager";
  await Promise.all(images.map((image) => image.decode().catch(() => {})));
  const hidden = "script, style, code, pre, mjx-container, .math, .d2l-explorer, noscript";
  const words = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode())
    if (!walk.currentNode.parentElement.closest(hidden)) words.push(walk.currentNode.data);
  const math = [...document.querySelectorAll(".math")];
  return {
    growth: document.documentElement.scrollHeight - height, // while pictures load
    unsized: images.filter((i) => /\/_images\//.test(i.src) && !(i.width && i.getAttribute("height"))).map((i) => i.src),
    text: words.join(" "),
    math: math.length,
    unset: math.filter((m) => !m.querySelector("mjx-container")).map((m) => m.textContent),
    guessed: [...document.querySelectorAll("mjx-utext")].map((m) => m.textContent),
    images: images.map((i) => ({ src: i.src.slice(0, 200), width: i.naturalWidth, alt: i.alt })),
    links: [...document.querySelectorAll("a[href]")].map((a) => a.href),
  };
}
