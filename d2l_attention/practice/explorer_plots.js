  const f = (v) => v.toFixed(1);
  const marks = { // what outline() in explorer_plots.py does
    bars: (x, y, s, unit, zero) => `M${f(x - unit)} ${zero[1]}V${f(y)}H${f(x + unit)}V${zero[1]}Z`,
    points: (x, y, s, unit) => {
      const r = unit * Math.sqrt(s), around = `a${f(r)} ${f(r)} 0 1 0`;
      return `M${f(x - r)} ${f(y)}${around} ${f(2 * r)} 0${around} ${f(-2 * r)} 0Z`;
    },
    curve: (x, y, s, unit, zero, pen) => `${pen}${f(x)} ${f(y)}`,
    arrow: (x, y, s, unit, zero) => {
      const turn = Math.atan2(y - zero[1], x - zero[0]);
      const head = [2.7, -2.7].map((side) => `M${f(x)} ${f(y)}L${f(x + 9 * Math.cos(turn + side))} ${f(y + 9 * Math.sin(turn + side))}`);
      return `M${zero[0]} ${zero[1]}L${f(x)} ${f(y)}` + head.join("");
    },
  };
  marks.area = marks.curve;
  const scaleOf = (svg) => {
    const [x0, x1, y0, y1, left, right, bottom, top] = svg.dataset.scale.split(" ").map(Number);
    return {
      left, right, bottom, top, ranges: [[x0, x1], [y0, y1]],
      x: (v) => left + ((v - x0) / (x1 - x0)) * (right - left),
      y: (v) => bottom + ((v - y0) / (y1 - y0)) * (top - bottom),
    };
  };
  const plot = (mark, scale, values) => {
    const read = (name) => {
      const from = mark.dataset[name];
      if (from === undefined) return null;
      if (from[0] !== "@") return from.split(" ").map(Number);
      const [at, n] = from.slice(1).split(":").map(Number);
      return values.slice(at, at + n).map((v) => (v === null ? NaN : v));
    };
    const [xs, ys, sizes] = [read("x"), read("y"), read("size") ?? [1]];
    const kind = mark.getAttribute("class");
    if (kind === "line") {
      if (!isFinite((xs ?? ys)[0])) return "";
      return xs ? `M${f(scale.x(xs[0]))} ${scale.bottom}V${scale.top}` : `M${scale.left} ${f(scale.y(ys[0]))}H${scale.right}`;
    }
    if (kind === "name") {
      const [x, y] = [scale.x(xs[0]), scale.y(ys[0])];
      return isFinite(x + y) ? `translate(${f(x)} ${f(y)})` : "scale(0)";
    }
    const zero = [f(scale.x(0)), f(Math.min(scale.y(0), scale.bottom))];
    let d = "", pen = "M";
    for (let i = 0; i < Math.max(xs.length, ys.length, sizes.length); i++) {
      const [x, y, s] = [scale.x(xs[i % xs.length]), scale.y(ys[i % ys.length]), sizes[i % sizes.length]];
      const fine = isFinite(x + y + s) && s > 0;
      if (fine) d += marks[kind](x, y, s, Number(mark.dataset.unit), zero, pen);
      pen = fine ? "L" : "M";
    }
    return d;
  };
  const draggable = (svg, controls, choices) => { // a drag sets the sliders to the values nearest to the pointer
    const scale = scaleOf(svg);
    const targets = svg.dataset.drag.split(";").map((t) => t && Number(t));
    svg.dataset.axes = targets.length;
    const move = (event) => {
      const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
      targets.forEach((control, axis) => {
        if (control === "") return; // this axis sets nothing
        const [low, high] = scale.ranges[axis];
        const wanted = axis ? low + ((at.y - scale.bottom) / (scale.top - scale.bottom)) * (high - low) : low + ((at.x - scale.left) / (scale.right - scale.left)) * (high - low);
        const away = choices[control][1].map((v) => Math.abs(Number(v.replace(",", "")) - wanted));
        controls[control].set(away.indexOf(Math.min(...away)));
      });
    };
    svg.addEventListener("pointerdown", (event) => {
      if (svg.matches(".zoom > :not(.large)")) return; // a click on it makes it large
      event.preventDefault();
      svg.setPointerCapture(event.pointerId);
      controls[targets.find((t) => t !== "")].focus(); // so that arrow keys go on from here
      move(event);
    });
    svg.addEventListener("pointermove", (event) => svg.hasPointerCapture(event.pointerId) && move(event));
  };
  kits.push((root, controls, choices) => {
    for (const svg of root.querySelectorAll("svg[data-drag]")) draggable(svg, controls, choices);
    const marked = [...root.querySelectorAll("svg.plot [class]")].map((mark) => [mark, scaleOf(mark.ownerSVGElement)]);
    return (values) => {
      for (const [mark, scale] of marked)
        mark.setAttribute(mark.localName === "text" ? "transform" : "d", plot(mark, scale, values));
    };
  });
