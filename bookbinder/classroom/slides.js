// Sets each slide as large as it has room, then starts reveal.js.
(async () => {
  const root = document.documentElement;
  if (new URLSearchParams(location.search).has("dark")) root.dataset.theme = "dark";
  await Promise.all([...document.fonts].map((face) => face.load().catch(() => {})));
  await Promise.all([...document.images].map((image) => image.decode().catch(() => {})));
  const STEPS = 10, SIZES = { code: [26, 16, "px"], prose: [32, 24, "px"], zoom: [1.4, 0.9, ""] };
  const walls = [...document.querySelectorAll(".wall")];
  document.body.classList.add("measuring");
  for (let step = 1; step <= STEPS; step++) {
    const over = walls.filter((wall) => wall.scrollHeight > wall.clientHeight); // read all, then write
    for (const wall of over)
      for (const [name, [most, least, unit]] of Object.entries(SIZES))
        wall.style.setProperty(`--${name}`, most + (least - most) * step / STEPS + unit);
  }
  document.body.classList.remove("measuring");
  await Reveal.initialize({
    plugins: [RevealNotes], hash: true, width: 1280, height: 720, margin: 0, center: false,
    slideNumber: "c/t", transition: "none", navigationMode: "linear", controls: false,
    pdfSeparateFragments: false, pdfMaxPagesPerSlide: 1,
  });
  // A slider that was moved gives the keys back to the slides.
  addEventListener("pointerup", () => {
    if (document.activeElement?.matches("input:not([type=text])")) document.activeElement.blur();
  });
  root.dataset.ready = "";
})();
