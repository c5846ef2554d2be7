// Starts reveal.js with each slide as large as it has room for; MathJax calls this when it is done.
const WIDTH = 1152, GROWTH = 2, STEPS = 12, LEAST = 0.6;
const LONGEST = 105, WRAPPED = 85; // letters of a line that need not, and may, go on in the next
const all = (selector, part = document) => [...part.querySelectorAll(selector)];

async function startSlides() {
  for (const link of all(".slides a")) link.replaceWith(...link.childNodes);
  for (const slide of all(".slides section section")) {
    const wall = document.createElement("div");
    wall.className = "wall";
    wall.append(...[...slide.childNodes].filter((part) => !part.matches?.("aside")));
    slide.prepend(wall);
  }
  for (const em of all("em")) // Han and Hangul are not slanted
    em.classList.toggle("dotted", /[\u3400-\u9fff\uac00-\ud7af]/.test(em.textContent));
  for (const pre of all(".highlight pre")) pre.innerHTML = bare(pre.innerHTML);
  for (const pre of all(".jp-OutputArea-output pre"))
    pre.textContent = pre.textContent.replace(/\n\s*\n/g, "\n"); // as between matrices of a tensor
  for (const output of all(".jp-Cell-inputWrapper + .jp-Cell-outputWrapper"))
    output.classList.add("fragment"); // the room predicts it first
  await Promise.all([...document.images].map((image) => image.decode().catch(() => {})));
  for (const image of all(".wall img")) {
    const { naturalWidth: width, naturalHeight: height } = image;
    image.parentElement.style.setProperty("--height", `${Math.min(GROWTH, WIDTH / width) * height}px`);
  }
  fit(all(".wall"));
  await Reveal.initialize({
    plugins: [RevealNotes], hash: true, width: 1280, height: 720, margin: 0, center: false,
    slideNumber: "c/t", transition: "none", navigationMode: "linear", controls: false,
    pdfSeparateFragments: false, pdfMaxPagesPerSlide: 1, keyboardCondition: (event) => !scrolled(event),
  });
  Reveal.on("slidechanged", ({ previousSlide }) => { // whoever jumped back walks on through whole sections
    for (const stack of all(".stack")) stack.removeAttribute("data-previous-indexv");
    previousSlide?.querySelector(".wall").scrollTo(0, 0);
  });
  document.documentElement.dataset.ready = "";
}

// Scrolls the slide in place of a step, as long as there is more of it; says whether it has.
function scrolled(event) {
  const wall = Reveal.getCurrentSlide().querySelector(".wall.scrolls"), at = wall?.scrollTop;
  if (!wall || Reveal.isOverview()) return false;
  const isBack = [33, 37, 38, 80].includes(event.keyCode) || event.shiftKey; // page up, left, up, P
  const isStep = isBack || [32, 34, 39, 40, 78].includes(event.keyCode); // space, down, right, N
  wall.scrollTop += isStep * (isBack ? -0.8 : 0.8) * wall.clientHeight;
  if (wall.scrollTop !== at) event.preventDefault?.();
  return wall.scrollTop !== at;
}

// Returns code without docstrings, marks of what is saved, and more than one blank line.
function bare(code) {
  const bare = code.replace(/<span><\/span>| *<span class="c1">#@save.*?<\/span>|^.*class="sd".*\n?/gm, "");
  return bare.replace(/(:<\/span>\n|\n\n)\n+/g, "$1");
}

// Sets slides smaller that are too full; what still has no room can be scrolled.
function fit(walls) {
  const full = (part) => part.scrollHeight > part.clientHeight + 1 || part.scrollWidth > part.clientWidth + 1;
  document.body.classList.add("measuring");
  for (const pre of all(".wall pre")) {
    const letters = Math.max(...pre.textContent.split("\n").map((line) => line.length));
    pre.style.setProperty("--letters", letters > LONGEST ? WRAPPED : letters);
  }
  for (let step = 1; step <= STEPS; step++)
    for (const wall of walls.filter(full)) // read all, then write
      wall.style.setProperty("--scale", 1 - (1 - LEAST) * step / STEPS);
  for (const wall of walls.filter(full)) wall.classList.add("scrolls");
  document.body.classList.remove("measuring");
}

// A slider that was moved gives the keys back to the slides.
addEventListener("pointerup", () => {
  if (document.activeElement?.matches("input:not([type=text])")) document.activeElement.blur();
});

window.MathJax = {
  tex: { inlineMath: [["$", "$"]] },
  svg: { fontCache: "local" },
  options: { enableMenu: false, ignoreHtmlClass: "jp-OutputArea|highlight" },
  startup: { pageReady: () => MathJax.startup.defaultPageReady().then(startSlides) },
};
