  // Sliders over stored frames. What a page looks like is said in Python; here its numbers change.
  const blues = BLUES.split(" ").map((s) => [0, 2, 4].map((i) => parseInt(s.slice(i, i + 2), 16)));
  const text = (v, digits) => {
    if (typeof v === "string") return v;
    if (v === null) return "nan";
    if (!isFinite(v)) return v > 0 ? "inf" : "-inf";
    if (!digits) return Math.abs(v) < 1e10 ? v.toLocaleString("en-US") : v.toExponential(1);
    return v.toFixed(digits).replace(/^-(0\.0*)$/, "$1");
  };
  const paint = (cell, v) => {
    const at = v === null ? 0 : Math.min(Math.max(v, 0), 1) * 8;
    const i = Math.min(Math.floor(at), 7);
    const mix = blues[i].map((a, k) => Math.floor(a + (blues[i + 1][k] - a) * (at - i) + 0.5));
    cell.style.backgroundColor = v === null ? "#bdbdbd" : `rgb(${mix})`;
    cell.style.color = at > 5.75 ? "#ffffff" : "#000000";
  };
  const make = (tag, properties, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };
  const widest = (texts) => `${Math.max(0, ...texts.map((t) => t.length))}ch`;
  const slider = (name, labels, start, show) => {
    const input = make("input", { type: "range", max: labels.length - 1, value: start, oninput: show });
    const output = make("output");
    const className = labels.some((text) => text.length > 9) ? "wide" : "";
    const element = make("label", { className }, make("span", { textContent: name }), input, output);
    element.style.setProperty("--value", widest(labels)); // as wide at any value
    return {
      element, input,
      at: () => Number(input.value),
      set: (i) => i !== Number(input.value) && ((input.value = i), show()),
      tell: () => {
        input.setAttribute("aria-valuetext", labels[input.value]);
        output.textContent = labels[input.value];
      },
    };
  };
  const group = (name, type, texts, isOn, show) => { // buttons, of which one is on, or any
    const row = Math.random().toString(36); // the same output may stand twice on a page
    const inputs = texts.map((text, i) => make("input", { type, name: row, checked: isOn(i), onchange: show }));
    const labels = texts.map((text, i) => make("label", {}, inputs[i], make("span", { textContent: text })));
    const element = make("fieldset", {}, make("legend", { textContent: name }), ...labels);
    if ([name.padEnd(14), ...texts].join("---").length > 36) element.className = "wide";
    return { element, inputs, tell: () => {} };
  };
  const buttons = (name, labels, start, show) => {
    const made = group(name, "radio", labels, (i) => i === start, show);
    return { ...made, at: () => made.inputs.findIndex((input) => input.checked) };
  };
  const toggles = (name, labels, start, show, words) => {
    const made = group(name, "checkbox", words, (i) => (start >> (words.length - 1 - i)) % 2, show);
    return { ...made, at: () => made.inputs.reduce((at, input) => 2 * at + input.checked, 0) };
  };
  const steps = (control, name, last, words) => { // Back, Play and Next for a slider
    let timer = 0;
    const say = (message) => words[message];
    const go = (step) => control.set(Math.min(Math.max(control.at() + step, 0), last));
    const stop = () => {
      timer = clearInterval(timer);
      play.textContent = say("Play");
    };
    const start = () => {
      if (timer) return stop();
      if (control.at() === last) control.set(0);
      play.textContent = say("Pause");
      timer = setInterval(() => {
        go(1);
        if (control.at() === last || !play.isConnected) stop();
      }, 700);
    };
    const button = (textContent, onclick) => make("button", { type: "button", textContent, onclick });
    const back = button(say("Back"), () => (stop(), go(-1)));
    const play = button(say("Play"), start);
    const next = button(say("Next"), () => (stop(), go(1)));
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches; // then no Play
    const element = make("div", { className: "steps", role: "group", ariaLabel: name }, back, ...(still ? [] : [play]), next);
    control.input.addEventListener("input", stop);
    control.element.after(element);
    return () => {
      back.ariaDisabled = control.at() === 0;
      next.ariaDisabled = control.at() === last;
    };
  };
  const walk = (table) => { // arrow keys go from cell to cell; the one in focus shows all its digits
    const rows = [...table.rows].map((r) => [...r.querySelectorAll("td[title]")]).filter((r) => r.length);
    if (!rows.length) return;
    table.setAttribute("role", "grid");
    for (const cell of rows.flat()) cell.tabIndex = -1;
    rows[0][0].tabIndex = 0;
    table.addEventListener("focusin", (event) => {
      for (const cell of rows.flat()) cell.tabIndex = cell === event.target ? 0 : -1;
    });
    table.addEventListener("keydown", (event) => {
      const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
      const i = rows.findIndex((r) => r.includes(event.target));
      if (!step || i < 0) return;
      event.preventDefault();
      rows[i + step[0]]?.[rows[i].indexOf(event.target) + step[1]]?.focus();
    });
  };
  const scaleOf = (svg) => {
    const [x0, x1, y0, y1, left, right, bottom, top] = svg.dataset.scale.split(" ").map(Number);
    return {
      bottom,
      x: (v) => left + ((v - x0) / (x1 - x0)) * (right - left),
      y: (v) => bottom + ((v - y0) / (y1 - y0)) * (top - bottom),
      values: (x, y) => [x0 + ((x - left) / (right - left)) * (x1 - x0), y0 + ((y - bottom) / (top - bottom)) * (y1 - y0)],
    };
  };
  const path = ({ each, unit = 0, ...held }, scale, values) => { // as Canvas.path fills the template of a mark
    const [xs, ys, sizes] = ["x", "y", "size"].map((name) => {
      const from = held[name] ?? "1", [at, n] = from.slice(1).split(":").map(Number);
      return from[0] === "@" ? values.slice(at, at + n).map((v) => v ?? NaN) : from.split(" ").map(Number);
    });
    const zero = [scale.x(0), Math.min(scale.y(0), scale.bottom)];
    let d = "", gap = true;
    for (let i = 0; i < Math.max(xs.length, ys.length, sizes.length); i++) {
      const [x, y, size] = [scale.x(xs[i % xs.length]), scale.y(ys[i % ys.length]), sizes[i % sizes.length]];
      const r = unit * Math.sqrt(size);
      const turn = Math.atan2(y - zero[1], x - zero[0]);
      const [E, F, G, I] = [2.7, -2.7].flatMap((side) => [9 * Math.cos(turn + side), 9 * Math.sin(turn + side)]);
      const numbers = { X: x, Y: y, R: r, D: 2 * r, E, F, G, I };
      const fine = isFinite(x + y) && size > 0;
      if (fine) d += (gap ? each.replace(/^L/, "M") : each).replace(/[XYRDEFGI]/g, (letter) => +numbers[letter].toFixed(1));
      gap = !fine;
    }
    return d;
  };
  const draggable = (svg, controls, choices) => { // a drag sets the sliders to the values nearest to the pointer
    const scale = scaleOf(svg);
    const targets = svg.dataset.drag.split(";");
    svg.dataset.axes = targets.length;
    const move = (event) => {
      const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
      const wanted = scale.values(at.x, at.y);
      targets.forEach((control, axis) => {
        if (!control) return; // this axis sets nothing
        const away = choices[control][1].map((v) => Math.abs(Number(v.replace(",", "")) - wanted[axis]));
        controls[control].set(away.indexOf(Math.min(...away)));
      });
    };
    svg.addEventListener("pointerdown", (event) => {
      if (svg.matches(".zoom > :not(.large)")) return; // a click on it makes it large
      event.preventDefault();
      svg.setPointerCapture(event.pointerId);
      controls[targets.find(Boolean)].input.focus({ preventScroll: true }); // so that arrow keys go on from here
      move(event);
    });
    svg.addEventListener("pointermove", (event) => svg.hasPointerCapture(event.pointerId) && move(event));
  };
  const zoom = (box) => { // one plot is large, and buttons or a click choose which
    const plots = [...box.children];
    const titles = plots.map((svg) => svg.querySelector("[data-title]").textContent);
    const enlarge = () => plots.forEach((svg, i) => svg.classList.toggle("large", i === view.at()));
    const view = buttons(box.dataset.name, titles, 0, enlarge);
    view.element.className = "wide view"; // it chooses no frame
    plots.forEach((svg, i) => svg.addEventListener("click", () => view.inputs[i].click()));
    return view.element;
  };
  const weigh = (scores, query) => scores.flatMap(([c, a, b, origin, unit, tanh]) => { // as Score in explorer_live.py says
    const from = query.map((v, i) => v - origin[i]);
    const length = (unit && Math.hypot(...from)) || 1;
    const q = from.map((v) => v / length);
    const s = (b ?? c).map((_, j) => c[j % c.length].reduce((sum, w, i) => {
      const x = (a ? a[i][0] * q[0] + a[i][1] * q[1] : q[i]) + (b ? b[j][i] : 0);
      return sum + w * (tanh ? Math.tanh(x) : x);
    }, 0));
    const e = s.map((v) => Math.exp(v - Math.max(...s)));
    const sum = e.reduce((x, y) => x + y);
    return e.map((v) => v && (Math.round((v / sum) * 1e4) / 1e4 || TINY));
  });
  const fill = (row, values) => {
    const { at, digits, zeros } = row.dataset;
    row.querySelectorAll(".v").forEach((cell, i) => {
      const v = values[Number(at) + i], now = zeros && v === 0 ? "" : text(v, Number(digits));
      if (cell.textContent !== now) cell.textContent = now;
      if (cell.style.backgroundColor) paint(cell, v);
      if (cell.title) cell.title = text(v, DIGITS);
      cell.classList.toggle("masked", zeros === "masked" && v === 0);
    });
  };
  for (const root of document.querySelectorAll(".d2l-explorer:not([data-live])")) {
    root.dataset.live = "";
    root.setAttribute("role", "group");
    root.setAttribute("aria-label", root.querySelector(".q").textContent);
    root.addEventListener("focusin", ({ target }) => target.setAttribute("data-lm-suppress-shortcuts", "true")); // JupyterLab: arrow keys are mine
    const [frames, curves, choices, words, scores] = ["frames", "curves", "sliders", "words", "scores"].map((name) => JSON.parse(root.dataset[name] ?? "null"));
    for (const img of root.querySelectorAll("img")) {
      const source = img.getAttribute("src");
      img.insertAdjacentHTML("afterend", decodeURIComponent(source.slice(source.indexOf(",") + 1)));
      const svg = img.nextElementSibling;
      for (const name of ["class", "style", "width", "height"]) svg.setAttribute(name, img.getAttribute(name));
      svg.removeAttribute("color");
      img.remove();
    }
    root.style.setProperty("--name", widest(choices.filter(([, , , names]) => !names).map(([name]) => name)));
    const controls = choices.map(([name, labels, start, kind]) =>
      (Array.isArray(kind) ? toggles : kind ? buttons : slider)(name, labels, start, () => show(), kind));
    const panel = make("div", { className: "controls" }, ...controls.map(({ element }) => element));
    const box = root.querySelector(".zoom");
    if (box) panel.prepend(zoom(box));
    root.querySelector(".still").replaceWith(panel);
    const [film, turn] = [root.dataset.steps, root.dataset.row];
    const ends = film && steps(controls[film], choices[film][0], choices[film][1].length - 1, words);
    const pictures = [...root.querySelectorAll("svg[role]")].map((svg) => [svg, svg.getAttribute("aria-label")]);
    const marks = [...root.querySelectorAll("[data-each]")].map((mark) => [mark, scaleOf(mark.ownerSVGElement)]);
    const rows = [...root.querySelectorAll("[data-at]")];
    const [lit, ...turns] = turn ? rows : [];
    const show = () => {
      const place = controls.reduce((at, control, i) => at * choices[i][1].length + control.at(), 0);
      const frame = Math.floor(place / (scores?.every ?? 1));
      const labels = choices.map(([, labels], i) => labels[controls[i].at()]);
      const values = frames[frame].flatMap((v) => (Array.isArray(v) ? curves[v[0]] : [v]));
      if (scores) {
        const query = labels.slice(-2).map(Number);
        scores.query.forEach((at, i) => (values[at] = query[i]));
        const weights = weigh(scores.frames[frame], query);
        values.splice(scores.weights, weights.length, ...weights);
      }
      for (const control of controls) control.tell();
      const now = choices.map(([name], i) => `${name} = ${labels[i]}`).join(", ");
      for (const [svg, name] of pictures) svg.setAttribute("aria-label", name ? `${name}: ${now}` : now);
      for (const [mark, scale] of marks) {
        const d = path(mark.dataset, scale, values);
        mark.localName === "text" ? mark.setAttribute("transform", d || "scale(0)") : mark.setAttribute("d", d);
      }
      for (const row of rows) fill(row, values);
      turns.forEach((row, i) => row.classList.toggle("now", i === controls[turn].at()));
      if (lit) [...lit.closest("table").tHead.rows[0].cells].forEach((head, i) => paint(head, values[Number(lit.dataset.at) + i]));
      ends?.();
    };
    show();
    root.querySelectorAll("svg[data-drag]").forEach((svg) => draggable(svg, controls, choices));
    root.querySelectorAll("table").forEach(walk);
  }
