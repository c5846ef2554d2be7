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
    const at = Math.min(Math.max(v, 0), 1) * 8;
    const i = Math.min(Math.floor(at), 7);
    const mix = blues[i].map((a, k) => Math.floor(a + (blues[i + 1][k] - a) * (at - i) + 0.5));
    cell.style.backgroundColor = v === null ? "#bdbdbd" : `rgb(${mix})`;
    cell.style.color = at > 5.75 ? "#ffffff" : "#000000";
  };
  const buttons = (name, labels, start, show, words) => { // of which one is on, or of words, any
    const [type, texts] = Array.isArray(words) ? ["checkbox", words] : ["radio", labels];
    const isOn = (i) => (type === "radio" ? i === start : (start >> (texts.length - 1 - i)) % 2);
    const row = Math.random().toString(36); // the same output may stand twice on a page
    const inputs = texts.map((_, i) => make("input", { type, name: row, checked: isOn(i), onchange: show }));
    const faces = texts.map((text, i) => make("label", {}, inputs[i], make("span", { textContent: text })));
    const element = make("fieldset", {}, make("legend", { textContent: name }), ...faces);
    if ([name.padEnd(14), ...texts].join("---").length > 36) element.className = "wide";
    const pattern = () => inputs.reduce((at, input) => 2 * at + input.checked, 0);
    const at = () => (type === "radio" ? inputs.findIndex((input) => input.checked) : pattern());
    return { element, inputs, at, tell: () => {} };
  };
  const steps = (control, name, last, say) => { // Back, Play and Next for a slider
    let timer = 0;
    const go = (step) => control.set(Math.min(Math.max(control.at() + step, 0), last));
    const stop = () => {
      timer = clearInterval(timer);
      play.textContent = say("Play");
    };
    const [back, next] = [[say("Back"), -1], [say("Next"), 1]].map(([name, step]) => button(name, () => (stop(), go(step))));
    const play = button(say("Play"), () => {
      if (timer) return stop();
      if (control.at() === last) control.set(0);
      play.textContent = say("Pause");
      timer = setInterval(() => (play.isConnected ? go(1) : stop()), 700);
    });
    control.input.addEventListener("input", stop);
    control.element.after(make("div", { className: "steps", role: "group", ariaLabel: name }, back, ...(calm ? [] : [play]), next));
    return () => {
      back.ariaDisabled = control.at() === 0;
      next.ariaDisabled = control.at() === last;
      if (control.at() === last) stop();
    };
  };
  const ARROWS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  const walk = (table) => { // arrow keys go from cell to cell; the one in focus shows all its digits
    const rows = [...table.rows].map((row) => [...row.querySelectorAll("td[title]")]).filter((row) => row.length);
    if (!rows.length) return;
    const stopAt = (cell) => rows.flat().forEach((each) => (each.tabIndex = each === cell ? 0 : -1));
    stopAt(rows[0][0]);
    table.role = "grid";
    table.addEventListener("focusin", ({ target }) => stopAt(target));
    table.addEventListener("keydown", (event) => {
      if (!(event.key in ARROWS)) return;
      event.preventDefault();
      const [down, right] = ARROWS[event.key], i = rows.findIndex((row) => row.includes(event.target));
      rows[i + down]?.[rows[i].indexOf(event.target) + right]?.focus();
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
      const r = unit * Math.sqrt(size), turn = Math.atan2(y - zero[1], x - zero[0]);
      const [E, F, G, I] = [2.7, -2.7].flatMap((side) => [9 * Math.cos(turn + side), 9 * Math.sin(turn + side)]);
      const numbers = { X: x, Y: y, R: r, D: 2 * r, E, F, G, I };
      const fine = isFinite(x + y) && size > 0;
      if (fine) d += (gap ? each.replace(/^L/, "M") : each).replace(/[XYRDEFGI]/g, (letter) => +numbers[letter].toFixed(1));
      gap = !fine;
    }
    return d;
  };
  const draggable = (svg, controls, choices) => { // a drag sets the sliders to the values nearest to the pointer
    const targets = svg.dataset.drag.split(";");
    svg.dataset.axes = targets.length;
    svg.onpointermove = (event) => {
      if (!svg.hasPointerCapture(event.pointerId)) return;
      const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
      const wanted = scaleOf(svg).values(at.x, at.y);
      targets.forEach((control, axis) => {
        if (!control) return; // this axis sets nothing
        const away = choices[control][1].map((v) => Math.abs(Number(v.replace(",", "")) - wanted[axis]));
        controls[control].set(away.indexOf(Math.min(...away)));
      });
    };
    svg.onpointerdown = (event) => {
      if (svg.matches(".zoom > :not(.large)")) return; // a click on it makes it large
      event.preventDefault();
      svg.setPointerCapture(event.pointerId);
      controls[targets.find(Boolean)].input.focus({ preventScroll: true }); // so that arrow keys go on from here
      svg.onpointermove(event);
    };
  };
  const zoom = (box) => { // one plot is large, and buttons or a click choose which
    const plots = [...box.children];
    const titles = plots.map((svg) => svg.querySelector("[data-title]").textContent);
    const view = buttons(box.dataset.name, titles, 0, () => plots.forEach((svg, i) => svg.classList.toggle("large", i === view.at())));
    view.element.className = "wide view"; // it chooses no frame
    plots.forEach((svg, i) => svg.addEventListener("click", () => view.inputs[i].click()));
    return view.element;
  };
  const weigh = ([c, a, b, origin, unit, tanh], query) => { // as Score in explorer_planes.py says
    const from = query.map((v, i) => v - origin[i]);
    const length = (unit && Math.hypot(...from)) || 1;
    const q = from.map((v) => v / length);
    const scores = (b ?? c).map((_, j) => c[j % c.length].reduce((sum, w, i) => {
      const x = (a ? a[i][0] * q[0] + a[i][1] * q[1] : q[i]) + (b ? b[j][i] : 0);
      return sum + w * (tanh ? Math.tanh(x) : x);
    }, 0));
    return softmax(scores).map((w) => w && (Math.round(w * 1e4) / 1e4 || TINY));
  };
  const drawn = (img) => { // the picture that an `img` holds, as a part of the page
    const source = img.getAttribute("src");
    img.insertAdjacentHTML("afterend", decodeURIComponent(source.slice(source.indexOf(",") + 1)));
    const svg = img.nextElementSibling;
    for (const name of ["class", "style", "width", "height"]) svg.setAttribute(name, img.getAttribute(name));
    svg.removeAttribute("color");
    svg.dataset.name = svg.ariaLabel;
    img.remove();
  };
  const fill = (row, values) => {
    const { at, digits, zeros } = row.dataset;
    row.querySelectorAll(".v").forEach((cell, i) => {
      const v = values[Number(at) + i], now = zeros && v === 0 ? "" : text(v, Number(digits));
      if (cell.textContent !== now) cell.textContent = now;
      if (cell.style.backgroundColor) paint(cell, v);
      if (cell.title) cell.title = text(v, DIGITS);
      cell.classList.toggle("masked", zeros === "masked" && v === 0);
    });
    const heads = row.closest("table.lit")?.tHead.rows[0].cells ?? [];
    [...heads].forEach((head, i) => paint(head, values[Number(at) + i]));
  };
  const follow = (root, values, now) => { // all that moves shows these values
    for (const svg of root.querySelectorAll("svg[role]")) svg.ariaLabel = [svg.dataset.name, now].filter(Boolean).join(": ");
    for (const mark of root.querySelectorAll("[data-each]")) {
      const d = path(mark.dataset, scaleOf(mark.ownerSVGElement), values);
      mark.localName === "text" ? mark.setAttribute("transform", d || "scale(0)") : mark.setAttribute("d", d);
    }
    for (const row of root.querySelectorAll("[data-at]")) fill(row, values);
  };
  start(".d2l-explorer[data-frames]", (root, read, say) => {
    const [frames, curves, choices, scores] = ["frames", "curves", "sliders", "scores"].map(read);
    const { steps: film, row: turn } = root.dataset;
    root.role = "group";
    root.ariaLabel = root.querySelector(".q").textContent;
    root.querySelectorAll("img").forEach(drawn);
    root.style.setProperty("--name", widest(choices.filter(([, , , named]) => !named).map(([name]) => name)));
    const controls = choices.map(([name, labels, start, kind]) => (kind ? buttons : slider)(name, labels, start, () => show(), kind));
    const zooms = [...root.querySelectorAll(".zoom")].map(zoom);
    root.querySelector(".still").replaceWith(make("div", { className: "controls" }, ...zooms, ...controls.map(({ element }) => element)));
    const ends = film && steps(controls[film], choices[film][0], choices[film][1].length - 1, say);
    const show = () => {
      const at = controls.map((control) => control.at()), labels = at.map((i, n) => choices[n][1][i]);
      const place = at.reduce((place, i, n) => place * choices[n][1].length + i, 0);
      const frame = Math.floor(place / (scores?.every ?? 1));
      const values = frames[frame].flatMap((v) => (Array.isArray(v) ? curves[v[0]] : [v]));
      if (scores) {
        const query = labels.slice(-2).map(Number);
        scores.query.forEach((at, i) => (values[at] = query[i]));
        const weights = scores.frames[frame].flatMap((score) => weigh(score, query));
        values.splice(scores.weights, weights.length, ...weights);
      }
      for (const control of controls) control.tell();
      follow(root, values, choices.map(([name], n) => `${name} = ${labels[n]}`).join(", "));
      if (turn) root.querySelectorAll("table:not(.lit) tr[data-at]").forEach((row, i) => row.classList.toggle("now", i === at[turn]));
      ends?.();
    };
    show();
    root.querySelectorAll("svg[data-drag]").forEach((svg) => draggable(svg, controls, choices));
    root.querySelectorAll("table").forEach(walk);
  });
