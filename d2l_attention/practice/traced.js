  // The drawing of the stored model: nine steps, and what it says without the attention of a block.
  start(".d2l-traced", (root, read, say) => {
    const frames = root.dataset.frames.split(";").map((frame) => frame.split(" ")), BREAK = 7, LAST = 8;
    const [lines, bars, paths, parts, letters, [chance, told]] = ["li", ".bar", ".arcs path", "[data-at]", ".next", ".chance, [role=status]"].map((each) => [...root.querySelectorAll(each)]);
    let now = 0;
    const [back, next] = [[say("Back"), -1], [say("Next"), 1]].map(([name, way]) => button(name, () => show(now + way)));
    const blocks = [1, 2, 3, 4].map(() => make("input", { type: "checkbox", checked: true, onchange: () => show(BREAK) }));
    const names = [say("attention of block"), ...blocks.map((input, b) => make("label", {}, input, `${b + 1}`))];
    root.querySelector(".set").append(back, next, make("fieldset", {}, make("legend", {}, names.shift()), ...names));
    const show = (step) => {
      now = Math.min(Math.max(step, 0), LAST);
      if (now !== BREAK) for (const block of blocks) block.checked = true;
      lines.forEach((line, i) => line.classList.toggle("on", i === now));
      for (const part of parts) part.classList.toggle("on", part.dataset.at.includes(now + 1));
      [back.ariaDisabled, next.ariaDisabled] = [now === 0, now === LAST];
      const off = blocks.flatMap(({ checked }, b) => (checked ? [] : [b + 1]));
      const said = [...frames[blocks.reduce((at, { checked }) => 2 * at + !checked, 0)]], shares = said.pop();
      bars.forEach((bar, i) => {
        bar.setAttribute("width", said[i].slice(1) * 0.74);
        bar.nextSibling.textContent = `${said[i][0]} ${(said[i].slice(1) / 100).toFixed(2)}`;
      });
      paths.forEach((path, i) => path.setAttribute("stroke-width", (15 / 35) * parseInt(shares[i], 36)));
      const [letter, p] = bars.at(-1).nextSibling.textContent.split(" ");
      for (const text of letters) text.textContent = letter;
      chance.textContent = p;
      root.classList.toggle("broken", off.length);
      told.textContent = off.length ? say("Without the attention of block {blocks} it would say {letter}, {p}.", { blocks: off.join(", "), letter, p }) : "";
    };
    root.addEventListener("keydown", (event) => {
      const way = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (way) event.preventDefault(), event.stopPropagation(), show(now + way); // no slide turns
    });
    root.classList.add("live");
    root.tabIndex = 0;
    show(0);
  });
