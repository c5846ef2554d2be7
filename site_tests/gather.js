({
  // What one visit learns of a page, at the width of a laptop.
  async facts() {
    const drawn = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    const all = (selector) => [...document.querySelectorAll(selector)];
    const height = () => document.documentElement.scrollHeight;
    await document.fonts.ready; // then what the new width asks for is drawn, until nothing has moved for a while
    for (let still = 0, before = 0; still < 8; await drawn()) [still, before] = [before === height() ? still + 1 : 0, height()];
    const before = height(), images = [...document.images];
    for (const image of images) image.loading = "eager";
    await Promise.all(images.map((image) => image.decode().catch(() => {})));
    const hidden = "script, style, code, pre, mjx-container, .math, .d2l-explorer, noscript";
    const words = [], walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) if (!walk.currentNode.parentElement.closest(hidden)) words.push(walk.currentNode.data);
    // Stretches without a picture: how long each is, and the heading that it begins under.
    const article = document.querySelector("article") ?? document.body; // of the search, too
    const box = article.getBoundingClientRect();
    const place = (e) => [e.getBoundingClientRect().top - box.top, e.getBoundingClientRect().bottom - box.top];
    const headings = [...article.querySelectorAll("h2, h3")].map((h) => [place(h)[0], h.textContent]);
    const seen = [...article.querySelectorAll("img, .d2l-explorer, .d2l-arcs, .attention-widget")]
      .filter((picture) => picture.checkVisibility() && picture.offsetHeight >= 40)
      .map(place).sort((a, b) => a[0] - b[0]);
    let at = 0;
    const stretches = [...seen, [box.height, box.height]].map(([begin, end]) => {
      const stretch = [Math.round(begin - at), headings.findLast(([y]) => y <= at)?.[1] ?? "the top"];
      at = Math.max(at, end);
      return stretch;
    });
    const growth = height() - before; // while pictures load
    for (const fold of all("details")) fold.open = true;
    await drawn();
    const text = words.join(" ");
    const edges = all("article :is(section > p, div.cell > div.cell_input, section > div.math, .box, .d2l-explorer)")
      .map((block) => Math.round(block.getBoundingClientRect().right)).filter(Boolean);
    const links = all("a[href]").map((a) => a.href);
    return {
      links, stretches,
      problems: {
        raw: text.match(/.{0,40}(?:\$|\\\(|\\\[|\\(?:eqref|ref|tag|label)\b|<!--|\[\[\d+\]\]|\{raw\}).{0,40}/g) ?? [],
        unset: all(".math").filter((m) => !m.querySelector("mjx-container")).map((m) => m.textContent),
        guessed: all("mjx-utext").map((m) => m.textContent), // letters that MathJax's fonts lack
        "no picture or no alt text": images.filter((i) => !i.naturalWidth || !i.alt.trim()).map((i) => i.src.slice(0, 200)),
        "no room for pictures while they load": Math.abs(growth) > 1 ? [growth] : [],
        "text, code, equations and boxes end at": new Set(edges).size > 1 ? [...new Set(edges)] : [],
        http: links.filter((link) => link.startsWith("http:") && !link.startsWith(location.origin)),
        // With all folds open, equations, code and printed lines stand whole.
        cut: all("div.math, div.cell_input pre, .output.stream pre, .output.traceback pre")
          .filter((box) => box.clientWidth && box.scrollWidth > box.clientWidth + 1)
          .map((b) => `${b.scrollWidth - b.clientWidth} px: ${b.id || b.textContent.slice(0, 60)}`),
      },
    };
  },
  // What axe-core finds serious or critical, in light and in dark. Contrast takes most of its time: words that look
  // alike are looked at three times. Equations and code have thousands of parts that are alike on all pages.
  async violations(where) {
    const root = document.documentElement, found = [];
    const run = async (include, exclude, rules) => {
      const { violations } = await axe.run({ include, exclude }, { ...rules, resultTypes: ["violations"], preload: false });
      for (const { id, nodes } of violations.filter(({ impact }) => ["serious", "critical"].includes(impact)))
        found.push(...nodes.slice(0, 3).map((n) => `${root.dataset.theme}: ${id}: ${n.html.slice(0, 150)}: ${n.failureSummary}`));
    };
    const sides = ["color", "fill", "fontSize", "fontWeight", "backgroundColor", "backgroundImage", "opacity"];
    const look = (e) => e ? sides.map((side) => getComputedStyle(e)[side]) + look(e.parentElement) : "";
    for (root.dataset.theme of ["light", "dark"]) {
      const times = {}, parts = [...document.querySelectorAll(where)].flatMap((part) => [part, ...part.querySelectorAll("*")]);
      const words = parts.filter((e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()) && e.checkVisibility({ visibilityProperty: true }));
      const three = words.filter((e) => e.getBoundingClientRect().width > 1 && (times[look(e)] = (times[look(e)] ?? 0) + 1) <= 3);
      await run(three, [], { runOnly: ["color-contrast"] });
    }
    await run(where, ["mjx-container", ".highlight"], { rules: { "color-contrast": { enabled: false } } });
    return found;
  },
  // References of a page that have no preview.
  noPreview: () => [...document.querySelectorAll("article a")].filter((a) => /#(equation|term|reference)-/.test(a.hash))
    .map((a) => a.pathname.split("/").pop() + a.hash).filter((key) => !(key in PREVIEWS)),
  // What a print cuts off, and pictures that it has not.
  tooWide: () => [...document.querySelectorAll("div.math, .parts, pre, table.table")]
    .filter((b) => b.getBoundingClientRect().left + b.scrollWidth * b.currentCSSZoom > innerWidth + 1).map((b) => b.textContent),
  unseen: () => [...document.querySelectorAll("article img")]
    .filter((image) => !image.naturalWidth || !image.checkVisibility()).map((image) => image.src.slice(0, 200)),
  // What is wrong with a slide once all of it has come: cut off, too small to read, nothing to see.
  wrongSlides: () => Reveal.getSlides().map((slide) => {
    const { h, v } = Reveal.getIndices(slide), wall = slide.querySelector(".wall");
    const all = (selector) => [...wall.querySelectorAll(selector)];
    Reveal.slide(h, v, 99);
    const over = wall.scrollHeight > wall.clientHeight + 1 || wall.scrollWidth > wall.clientWidth + 1;
    const small = all(".jp-RenderedMarkdown :is(p, li, td), pre").some((part) => parseFloat(getComputedStyle(part).fontSize) < 14);
    const hidden = all(".controls button").some((button) => getComputedStyle(button).visibility === "hidden");
    const thing = "pre, img, ul, ol, table, blockquote, mjx-container[display], .jp-RenderedHTML";
    return [over && !wall.matches(".scrolls") && "cut", small && "small", hidden && "hidden",
      all(".jp-RenderedHTML").some((html) => !html.innerText) && "blank", !all(thing).length && "empty",
      all(".sd, a, mjx-merror").length && "strange"].filter(Boolean).concat(wall.innerText.slice(0, 60));
  }).filter((wrong) => wrong.length > 1),
  // Go to the slide that shows a thing, at one of its steps.
  goTo(selector, step) {
    const { h, v } = Reveal.getIndices(document.querySelector(selector).closest("section"));
    Reveal.slide(h, v, step);
  },
  // How much of the code of a slide lies below its wall.
  below: () => [...document.querySelectorAll("section section.present .scrolls")]
    .map((wall) => Math.floor(wall.scrollHeight - wall.clientHeight - wall.scrollTop)),
  // What an explorer shows with its sliders at these places.
  explorer(root, places) {
    const all = (selector) => [...root.querySelectorAll(selector)], from = root.getBoundingClientRect();
    for (const i of all("img")) i.outerHTML = decodeURIComponent(i.src.slice(i.src.indexOf(",") + 1));
    const told = all(".controls > label, fieldset:not(.view)").map((control, n) => {
      const inputs = [...control.querySelectorAll("input")], [{ type }] = inputs, at = places[n];
      const wanted = (i) => type === "radio" ? i === at : Boolean((at >> (inputs.length - 1 - i)) & 1);
      if (at >= 0 && type === "range") Object.assign(inputs[0], { value: at }).dispatchEvent(new Event("input"));
      else if (at >= 0) inputs.forEach((input, i) => input.checked === wanted(i) || input.click());
      const on = [...control.querySelectorAll(":checked + span")].map((word) => word.textContent).join(", ") || "none";
      const text = control.querySelector("output")?.textContent;
      return type !== "range" ? on : text === inputs[0].ariaValueText && text;
    });
    return {
      told, sliders: JSON.parse(root.dataset.sliders), names: all("svg[role]").map((svg) => svg.ariaLabel),
      cells: all("td.v, .lit th").map((c) => [c.textContent, c.title, c.className, c.style.cssText, c.parentNode.className]),
      marks: all("[data-each]").map((mark) => mark.getAttribute("d") ?? mark.getAttribute("transform")),
      boxes: [root, ...all("label, fieldset, input, button, svg, td, .parts")].map((e) => e.getBoundingClientRect())
        .map(({ x, y, width, height }) => [x - from.x, y - from.y, width, height].map(Math.round)),
      over: [root, ...all(".parts")].some((e) => e.scrollWidth > e.clientWidth),
    };
  },
  // What a trained model answers to what is typed.
  arcs(root) {
    const [says, out, typed, stage] = [".says", ".out", "[type=text]", ".stage"].map((part) => root.querySelector(part));
    return {
      says: says.textContent, out: out.textContent,
      wrong: [typed.ariaInvalid === "true", getComputedStyle(stage).opacity < 1],
      // It scrolls sideways, a digit is missing, and a line of width 0 would be printed.
      bad: document.documentElement.scrollWidth > innerWidth || root.querySelector("svg.rows text:empty, [style*='stroke-width:0px']") !== null,
      arcs: [...root.querySelectorAll("svg path")].map((p) => [p.getAttribute("d"), p.style.strokeWidth, p.style.stroke]),
    };
  },
})
