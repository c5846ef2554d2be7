  const blues = BLUES.split(" ").map((s) => [0, 2, 4].map((i) => parseInt(s.slice(i, i + 2), 16)));
  const text = (v, digits) => {
    if (typeof v === "string") return v;
    if (v === null) return "nan";
    if (!isFinite(v)) return v > 0 ? "inf" : "-inf";
    if (!digits) return v.toLocaleString("en-US");
    return v.toFixed(digits).replace(/^-(0\.0*)$/, "$1");
  };
  const paint = (cell, v, [low, high]) => {
    const at = v === null ? 0 : Math.min(Math.max((v - low) / (high - low), 0), 1) * 8;
    const i = Math.min(Math.floor(at), 7);
    const mix = blues[i].map((a, k) => Math.floor(a + (blues[i + 1][k] - a) * (at - i) + 0.5));
    cell.style.backgroundColor = v === null ? "#bdbdbd" : `rgb(${mix})`;
    cell.style.color = at > 5.75 ? "#ffffff" : "#000000";
  };
  const widest = (texts) => `${Math.max(0, ...texts.map((t) => t.length))}ch`;
  const slider = (name, labels, start, show) => {
    const label = document.createElement("label");
    const input = document.createElement("input");
    const output = document.createElement("output");
    label.append(document.createElement("span"), input, output);
    label.style.setProperty("--value", widest(labels)); // as wide at any value
    if (labels.some((text) => text.length > 9)) label.className = "wide";
    label.firstChild.textContent = name;
    input.setAttribute("data-lm-suppress-shortcuts", "true"); // JupyterLab: arrow keys are mine
    Object.assign(input, { type: "range", min: 0, max: labels.length - 1, step: 1, value: start });
    input.addEventListener("input", show);
    return {
      element: label,
      at: () => Number(input.value),
      set: (i) => i !== Number(input.value) && ((input.value = i), show()),
      focus: () => input.focus({ preventScroll: true }),
      tell: () => {
        input.setAttribute("aria-valuetext", labels[input.value]);
        output.textContent = labels[input.value];
      },
    };
  };
  const row = (name) => {
    const element = document.createElement("fieldset");
    element.append(document.createElement("legend"));
    element.firstChild.textContent = name;
    return element;
  };
  const toggles = (name, words, start, show) => { // words, each on or off
    const element = row(name);
    const pressed = (button) => button.getAttribute("aria-pressed") === "true";
    const all = words.map((text, i) => {
      const button = document.createElement("button");
      Object.assign(button, { type: "button", textContent: text });
      button.setAttribute("aria-pressed", (start >> (words.length - 1 - i)) % 2 === 1);
      button.setAttribute("data-lm-suppress-shortcuts", "true");
      button.addEventListener("click", () => {
        button.setAttribute("aria-pressed", !pressed(button));
        show();
      });
      element.append(button);
      return button;
    });
    return { element, at: () => all.reduce((at, b) => 2 * at + pressed(b), 0), tell: () => {} };
  };
  const walk = (table) => { // arrow keys go from cell to cell; the one in focus shows all its digits
    const rows = [...table.rows].map((r) => [...r.querySelectorAll("td[title]")]).filter((r) => r.length);
    if (!rows.length) return;
    table.setAttribute("role", "grid");
    table.setAttribute("data-lm-suppress-shortcuts", "true");
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
  const buttons = (name, labels, start, show) => { // one of several names
    const element = row(name);
    const group = Math.random().toString(36); // the same output may stand twice on a page
    const inputs = labels.map((text, i) => {
      const label = document.createElement("label");
      const input = document.createElement("input");
      const words = document.createElement("span");
      words.textContent = text;
      label.append(input, words);
      Object.assign(input, { type: "radio", name: group, value: i, checked: i === start });
      input.setAttribute("data-lm-suppress-shortcuts", "true");
      input.addEventListener("change", show);
      element.append(label);
      return input;
    });
    if ([name.padEnd(14), ...labels].join("---").length > 36) element.className = "wide";
    return { element, at: () => inputs.findIndex((input) => input.checked), tell: () => {} };
  };
  for (const root of document.querySelectorAll(".d2l-explorer:not([data-live])")) {
    root.dataset.live = "";
    root.setAttribute("role", "group");
    root.setAttribute("aria-label", root.querySelector(".q").textContent);
    const frames = JSON.parse(root.dataset.frames);
    const curves = JSON.parse(root.dataset.curves ?? "[]");
    const choices = JSON.parse(root.dataset.sliders);
    const scores = JSON.parse(root.dataset.scores ?? "null");
    const still = root.querySelector(".still");
    for (const img of root.querySelectorAll("img")) {
      const source = img.getAttribute("src");
      img.insertAdjacentHTML("afterend", decodeURIComponent(source.slice(source.indexOf(",") + 1)));
      img.nextElementSibling.removeAttribute("color");
      img.remove();
    }
    root.style.setProperty("--name", widest(choices.filter(([, , , names]) => !names).map(([name]) => name)));
    const panel = document.createElement("div");
    panel.className = "controls";
    still.replaceWith(panel);
    const controls = choices.map(([name, labels, start, names]) => {
      const kind = Array.isArray(names) ? toggles : names ? buttons : slider;
      const control = kind(name, kind === toggles ? names : labels, start, () => show());
      panel.append(control.element);
      return control;
    });
    const pictures = [...root.querySelectorAll("svg[role]")].map((svg) => [svg, svg.getAttribute("aria-label")]);
    const maps = [...root.querySelectorAll("table[data-digits]:not(.lit)")].map((table) => [...table.tBodies[0].rows]);
    const followers = kits.map((kit) => kit(root, controls, choices, scores)).filter(Boolean);
    const cells = [...root.querySelectorAll("td.v")];
    const show = () => {
      const place = controls.reduce((at, control, i) => at * choices[i][1].length + control.at(), 0);
      const frame = Math.floor(place / (scores?.every ?? 1));
      for (const control of controls) control.tell();
      const now = choices.map(([name, labels], i) => `${name} = ${labels[controls[i].at()]}`).join(", ");
      for (const [svg, name] of pictures) svg.setAttribute("aria-label", name ? `${name}: ${now}` : now);
      const marked = controls[root.dataset.row]?.at();
      for (const rows of maps) rows.forEach((row, i) => row.classList.toggle("now", i === marked));
      const values = frames[frame].flatMap((v) => (Array.isArray(v) ? curves[v[0]] : [v]));
      for (const follow of followers) follow(values, frame);
      cells.forEach((cell, i) => {
        const { digits, scale, zeros } = cell.closest("[data-digits]").dataset;
        const now = zeros && values[i] === 0 ? "" : text(values[i], Number(digits));
        if (cell.textContent !== now) cell.textContent = now;
        if (scale) paint(cell, values[i], scale.split(" ").map(Number));
        const head = cell.closest("table.lit")?.tHead.rows[0].cells[cell.cellIndex];
        if (head) paint(head, values[i], [0, 1]);
        if (zeros && digits > 0) cell.title = text(values[i], DIGITS);
        if (zeros) cell.classList.toggle("masked", zeros === "masked" && values[i] === 0);
      });
    };
    show();
    root.querySelectorAll("table").forEach(walk);
  }
