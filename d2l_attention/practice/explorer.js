(() => {
  const blues = "BLUES".split(" ").map((s) => [0, 2, 4].map((i) => parseInt(s.slice(i, i + 2), 16)));
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
  const draw = (curve, ys) => {
    const svg = curve.ownerSVGElement;
    const [low, high] = svg.dataset.y.split(" ").map(Number);
    let d = "", pen = "M";
    svg.dataset.x.split(" ").forEach((x, i) => {
      const fine = ys[i] !== null && isFinite(ys[i]);
      if (fine) d += `${pen}${x} ${(BOTTOM + ((ys[i] - low) / (high - low)) * (TOP - BOTTOM)).toFixed(1)}`;
      pen = fine ? "L" : "M";
    });
    curve.setAttribute("d", d);
  };
  const slider = (name, labels, start, show) => {
    const label = document.createElement("label");
    const input = document.createElement("input");
    const output = document.createElement("output");
    label.append(document.createElement("span"), input, output);
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
  const buttons = (name, labels, start, show) => { // one of several names
    const element = document.createElement("fieldset");
    element.append(document.createElement("legend"));
    element.firstChild.textContent = name;
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
    return { element, at: () => inputs.findIndex((input) => input.checked), tell: () => {} };
  };
PLOTS
  for (const root of document.querySelectorAll(".d2l-explorer:not([data-live])")) {
    root.dataset.live = "";
    const frames = JSON.parse(root.dataset.frames);
    const curves = JSON.parse(root.dataset.curves ?? "[]");
    const choices = JSON.parse(root.dataset.sliders);
    const still = root.querySelector(".still");
    for (const img of root.querySelectorAll("img")) {
      const source = img.getAttribute("src");
      img.insertAdjacentHTML("afterend", decodeURIComponent(source.slice(source.indexOf(",") + 1)));
      img.nextElementSibling.removeAttribute("color");
      img.remove();
    }
    const tracks = choices.filter(([, , , names]) => !names); // all as wide, at any value
    const widest = (texts) => `${Math.max(0, ...texts.map((t) => t.length))}ch`;
    root.style.setProperty("--name", widest(tracks.map(([name]) => name)));
    root.style.setProperty("--value", widest(tracks.flatMap(([, labels]) => labels)));
    const controls = choices.map(([name, labels, start, names]) => {
      const control = (names ? buttons : slider)(name, labels, start, () => show());
      still.before(control.element);
      return control;
    });
    still.remove();
    const cells = [...root.querySelectorAll("td.v")];
    const lines = [...root.querySelectorAll("path.c")];
    const show = () => {
      const frame = controls.reduce((at, control, i) => at * choices[i][1].length + control.at(), 0);
      for (const control of controls) control.tell();
      const values = frames[frame].slice(0, cells.length);
      for (const curve of frames[frame].slice(cells.length)) values.push(...curves[curve]);
      cells.forEach((cell, i) => {
        const { digits } = cell.closest("[data-digits]").dataset;
        const { scale, zeros } = cell.closest("table").dataset;
        const now = zeros && values[i] === 0 ? "" : text(values[i], Number(digits));
        if (cell.textContent !== now) cell.textContent = now;
        if (scale) paint(cell, values[i], scale.split(" ").map(Number));
        if (zeros) cell.title = text(values[i], FULL);
        if (zeros) cell.classList.toggle("masked", zeros === "masked" && values[i] === 0);
      });
      let from = cells.length;
      lines.forEach((line) => {
        const n = line.ownerSVGElement.dataset.x.split(" ").length;
        draw(line, values.slice(from, from + n));
        from += n;
      });
MOVE
    };
START
    show();
  }
})();
