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
  for (const root of document.querySelectorAll(".d2l-explorer:not([data-live])")) {
    root.dataset.live = "";
    const frames = JSON.parse(root.dataset.frames);
    const sliders = JSON.parse(root.dataset.sliders);
    const still = root.querySelector(".still");
    for (const img of root.querySelectorAll("img")) {
      const source = img.getAttribute("src");
      img.insertAdjacentHTML("afterend", decodeURIComponent(source.slice(source.indexOf(",") + 1)));
      img.nextElementSibling.removeAttribute("color");
      img.remove();
    }
    const inputs = sliders.map(([name, labels, start]) => {
      const label = document.createElement("label");
      const input = document.createElement("input");
      label.append(document.createElement("span"), input, document.createElement("output"));
      label.firstChild.textContent = name;
      input.setAttribute("data-lm-suppress-shortcuts", "true"); // JupyterLab: arrow keys are mine
      Object.assign(input, { type: "range", min: 0, max: labels.length - 1, step: 1, value: start });
      input.addEventListener("input", () => show());
      still.before(label);
      return input;
    });
    still.remove();
    const cells = [...root.querySelectorAll("td.v")];
    const lines = [...root.querySelectorAll("path.c")];
    const show = () => {
      let frame = 0;
      inputs.forEach((input, i) => {
        const label = sliders[i][1][input.value];
        frame = frame * sliders[i][1].length + Number(input.value);
        input.setAttribute("aria-valuetext", label);
        input.nextElementSibling.textContent = label;
      });
      const values = frames[frame];
      cells.forEach((cell, i) => {
        const { digits } = cell.closest("[data-digits]").dataset;
        const { scale } = cell.closest("table").dataset;
        const now = text(values[i], Number(digits));
        if (cell.textContent !== now) cell.textContent = now;
        if (scale) paint(cell, values[i], scale.split(" ").map(Number));
      });
      let from = cells.length;
      lines.forEach((line) => {
        const n = line.ownerSVGElement.dataset.x.split(" ").length;
        draw(line, values.slice(from, from + n));
        from += n;
      });
    };
    show();
  }
})();
