({
  all: (selector, root = document) => [...root.querySelectorAll(selector)],
  // What one visit learns of a page, at the width of a laptop.
  async facts() {
    const { all } = this, { body, fonts, documentElement: page } = document, tall = () => page.scrollHeight;
    const drawn = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    const texts = (selector, wrong) => all(selector).filter(wrong).map((e) => e.textContent.slice(0, 80));
    await fonts.ready; // then what the new width asks for is drawn, until nothing has moved for a while
    let before = 0;
    for (let still = 0; still < 8; await drawn()) [still, before] = [before === tall() ? still + 1 : 0, tall()];
    const copy = body.cloneNode(true), links = all("a[href]").map((a) => a.href), images = all("img");
    await Promise.all(images.map((image) => Object.assign(image, { loading: "eager" }).decode().catch(() => {})));
    const growth = tall() - before; // while pictures load
    const seen = all("article :is(img, .d2l-explorer, .d2l-arcs, .d2l-traced), .prev-next-footer")
      .map((picture) => picture.getBoundingClientRect()).filter(({ height }) => height >= 40);
    const stretches = seen.map(({ top }, i) => [top - Math.max(0, ...seen.slice(0, i).map(({ bottom }) => bottom)), top]);
    for (const fold of all("details")) fold.open = true;
    await drawn();
    for (const part of all("script, style, code, pre, mjx-container, .math, .d2l-explorer, noscript", copy)) part.remove();
    const cut = (box) => box.clientWidth && box.scrollWidth > box.clientWidth + 1;
    return { links, stretches, problems: {
      raw: copy.textContent.match(/.{0,40}(?:\$|\\\(|\\\[|\\(?:eqref|ref|tag|label)\b|<!--|\[\[\d+\]\]|\{raw\}).{0,40}/g) ?? [],
      unset: texts(".math", (m) => !m.querySelector("mjx-container")),
      guessed: texts("mjx-utext", () => true), // letters that MathJax's fonts lack
      "no picture or no alt text": images.filter((i) => !i.naturalWidth || !i.alt.trim()).map((i) => i.src.slice(0, 200)),
      "no room for pictures while they load": Math.abs(growth) > 1 ? [growth] : [],
      http: links.filter((link) => link.startsWith("http:") && !link.startsWith(location.origin)),
      "cut, with all folds open": texts("div.math, div.cell_input pre, .output:is(.stream, .traceback) pre", cut),
    } };
  },
  // What axe-core finds serious or critical; of words that look alike, three: contrast takes most of its time.
  async violations(where) {
    const { dataset } = document.documentElement, runs = [], options = { resultTypes: ["violations"], preload: false };
    const look = (e) => e && e.localName + e.getAttribute("class") + e.getAttribute("style") + look(e.parentElement);
    const says = (e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()) && e.getBoundingClientRect().width > 1;
    const parts = this.all(where).flatMap((part) => [part, ...this.all("*", part)]).filter(says);
    const alike = Object.groupBy(parts.filter((e) => e.checkVisibility({ visibilityProperty: true })), look);
    const include = Object.values(alike).flatMap((words) => words.slice(0, 3));
    for (dataset.theme of ["light", "dark"]) runs.push(await axe.run({ include }, { ...options, runOnly: ["color-contrast"] }));
    const all = { include: where, exclude: ["mjx-container", ".highlight"] }; // they are alike on all pages
    runs.push(await axe.run(all, { ...options, rules: { "color-contrast": { enabled: false } } }));
    const grave = runs.flatMap((run) => run.violations).filter((each) => /serious|critical/.test(each.impact));
    return grave.flatMap(({ id, nodes }) => nodes.slice(0, 3).map((n) => `${id}: ${n.html.slice(0, 150)}: ${n.failureSummary}`));
  },
  // References of a page that have no preview; what a print cuts off or lacks.
  noPreview: () => [...document.querySelectorAll("article a")].filter((a) => /#(equation|term|reference)-/.test(a.hash))
    .map((a) => a.pathname.split("/").pop() + a.hash).filter((key) => !(key in PREVIEWS)),
  tooWide: () => [...document.querySelectorAll("div.math, .parts, pre, table.table")]
    .filter((b) => b.getBoundingClientRect().left + b.scrollWidth * b.currentCSSZoom > innerWidth + 1).map((b) => b.textContent),
  unseen: () => [...document.images].filter((i) => !i.naturalWidth || !i.checkVisibility()).map((i) => i.src.slice(0, 99)),
  // What is wrong with a slide once all of it has come: cut off, too small to read, nothing to see.
  wrongSlides: () => Reveal.getSlides().flatMap((slide) => {
    const wall = slide.querySelector(".wall"), { h, v } = Reveal.getIndices(slide);
    const any = (selector, wrong = () => true) => [...wall.querySelectorAll(selector)].some(wrong);
    Reveal.slide(h, v, 99);
    let read = wall.clientHeight; // down to here: the arrow brings more into view of a wall that scrolls
    for (let n = 0; wall.matches(".scrolls") && Reveal.getCurrentSlide() === slide && n < 20; n++) {
      read = wall.clientHeight + wall.scrollTop;
      document.dispatchEvent(new KeyboardEvent("keydown", { keyCode: 39 }));
    }
    Reveal.slide(h, v, 99);
    const wrong = {
      cut: wall.scrollHeight > read + 1 || wall.scrollWidth > wall.clientWidth + 1, strange: any(".sd, a, mjx-merror"),
      small: any(".jp-RenderedMarkdown :is(p, li, td), pre", (part) => parseFloat(getComputedStyle(part).fontSize) < 14),
      hidden: any(".controls button", (button) => getComputedStyle(button).visibility === "hidden"),
      empty: !any("pre, img, ul, ol, table, blockquote, mjx-container[display], .jp-RenderedHTML"),
      blank: any(".jp-RenderedHTML", (html) => !html.innerText),
    };
    return Object.keys(wrong).filter((what) => wrong[what]).map((what) => `${what}: ${wall.innerText.slice(0, 60)}`);
  }),
  // What an explorer shows with its sliders at these places.
  explorer(root, places) {
    const all = (selector, part = root) => this.all(selector, part), { x, y } = root.getBoundingClientRect();
    const sliders = JSON.parse(root.dataset.sliders), start = sliders.map((slider) => slider[2]);
    for (const i of all("img")) i.outerHTML = decodeURIComponent(i.src.slice(i.src.indexOf(",") + 1));
    const told = all(".controls > label, fieldset:not(.view)").map((control, n) => {
      const inputs = all("input", control), [{ type }] = inputs, at = places[n];
      const wanted = (i) => type === "radio" ? i === at : Boolean((at >> (inputs.length - 1 - i)) & 1);
      if (at >= 0 && type === "range") Object.assign(inputs[0], { value: at }).dispatchEvent(new Event("input"));
      else if (at >= 0) inputs.forEach((input, i) => input.checked === wanted(i) || input.click());
      const on = all(":checked + span, output", control).map((word) => word.textContent).join(", ") || "none";
      return (type !== "range" || on === inputs[0].ariaValueText) && on;
    });
    const boxes = [root, ...all("label, fieldset, input, button, svg, td, .parts")].map((e) => e.getBoundingClientRect());
    return {
      told, sliders, start, names: all("svg[role]").map((svg) => svg.ariaLabel),
      cells: all("td.v, .lit th").map((c) => [c.textContent, c.title, c.className, c.style.cssText, c.parentNode.className]),
      marks: all("[data-each]").map((mark) => mark.getAttribute("d") ?? mark.getAttribute("transform")).join(" "),
      boxes: boxes.map((box) => [box.x - x, box.y - y, box.width, box.height].map(Math.round)),
      over: [root, ...all(".parts")].some((e) => e.scrollWidth > e.clientWidth),
    };
  },
  // What a trained model answers to what is typed; bad: it scrolls sideways, lacks a digit, or prints a line of width 0.
  arcs(root) {
    const [says, out, typed, stage] = [".says", ".out", "[type=text]", ".stage"].map((part) => root.querySelector(part));
    const wide = document.documentElement.scrollWidth > innerWidth;
    const bad = wide || this.all("svg.rows text:empty, [style*='stroke-width:0px']", root).length > 0;
    const wrong = [typed.ariaInvalid === "true", getComputedStyle(stage).opacity < 1];
    return { says: says.textContent, out: out.textContent, wrong, bad, arcs: stage.innerHTML };
  },
})
