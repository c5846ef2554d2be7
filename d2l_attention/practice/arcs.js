  // Small trained models in plain numbers: `models` computes, `takes` reads what is typed, the rest draws.
  const half = (h) => { // a float16
    const [e, f] = [(h >> 10) & 31, h & 1023];
    return (h >> 15 ? -1 : 1) * (e ? 2 ** (e - 15) * (1 + f / 1024) : f * 2 ** -24);
  };
  const unpack = (base64, shapes) => {
    const bytes = atob(base64);
    let at = 0;
    const fill = ([n, ...rest]) => Array.from({ length: n }, () => {
      if (rest.length) return fill(rest);
      at += 2;
      return half(bytes.charCodeAt(at - 2) + 256 * bytes.charCodeAt(at - 1));
    });
    return shapes.map(fill);
  };
  const dot = (a, b) => a.reduce((sum, v, i) => sum + v * b[i], 0);
  const add = (a, b) => a.map((v, i) => v + b[i]);
  const times = (W, x, bias) => W.map((row, i) => dot(row, x) + (bias ? bias[i] : 0));
  const softmax = (scores) => {
    const best = Math.max(...scores);
    const e = scores.map((s) => Math.exp(s - best));
    const sum = e.reduce((a, b) => a + b);
    return e.map((v) => v / sum);
  };
  const blend = (weights, rows) => rows[0].map((_, i) => weights.reduce((sum, w, j) => sum + w * rows[j][i], 0));
  const top = (p) => p.indexOf(Math.max(...p));
  const norm = (x, g, b) => {
    const mean = x.reduce((a, v) => a + v) / x.length;
    const variance = x.reduce((a, v) => a + (v - mean) ** 2, 0) / x.length;
    return x.map((v, i) => ((v - mean) / Math.sqrt(variance + 1e-5)) * g[i] + b[i]);
  };
  const turn = (x, at) => x.map((v, i) => { // chapter 4's rotate
    const angle = at * 10000 ** (-(i - (i % 2)) / x.length);
    return Math.cos(angle) * v + (i % 2 ? 1 : -1) * Math.sin(angle) * x[i + (i % 2 ? -1 : 1)];
  });
  const decode = ([embedding, ...W], ids, heads, kept = []) => { // blocks: norms, attention, feed-forward; then norm and logits
    const found = { weights: [] };
    let x = ids.map((id) => embedding[id]);
    for (let at = 0; at < W.length - 4; at += 12) {
      const [g1, b1, g2, b2, W_q, W_k, W_v, W_o, up, up_b, down, down_b] = W.slice(at);
      const h = x.map((v) => norm(v, g1, b1)), size = W_q.length / heads;
      const joined = Array.from({ length: heads }, (_, head) => {
        const part = (M) => h.map((v) => times(M.slice(head * size, head * size + size), v));
        const [K, V] = (kept[at * heads + head] ??= [[], []]), before = K.length; // a cache
        K.push(...part(W_k).map((k, i) => turn(k, before + i)));
        V.push(...part(W_v));
        const weights = part(W_q).map((q, i) => {
          const turned = turn(q, before + i);
          return softmax(K.slice(0, before + i + 1).map((k) => dot(turned, k) / Math.sqrt(size)));
        });
        found.weights.push(weights);
        return weights.map((w) => blend(w, V));
      });
      x = x.map((v, i) => add(v, times(W_o, joined.flatMap((o) => o[i]))));
      x = x.map((v) => add(v, times(down, times(up, norm(v, g2, b2), up_b).map((u) => Math.max(u, 0)), down_b)));
    }
    found.logits = x.map((v) => times(W.at(-2), norm(v, W.at(-4), W.at(-3)), W.at(-1)));
    found.p = found.logits.map(softmax);
    found.written = found.p.map(top);
    return found;
  };
  const models = {
    sentence([W_q, W_k, W_v], ids) { // (2.1); the last word asks
      const weights = ids.map((asks) => softmax(ids.map((id) => dot(W_q[asks], W_k[id]) / Math.sqrt(W_q[0].length))));
      const p = softmax(blend(weights.at(-1), ids.map((id) => W_v[id])));
      return { weights: [weights], p: [p], written: [top(p)] };
    },
    translator([embedding, rightX, rightH, leftX, leftH, S, S_b, W_q, W_k, w_v, tokens, cellX, cellH, O, O_b], ids) {
      const sigmoid = (v) => 1 / (1 + Math.exp(-v));
      const gru = (Wx, Wh, h, x) => { // (15.1)
        const [a, b, n] = [times(Wx, x), times(Wh, h), h.length];
        return h.map((v, i) => {
          const [r, z] = [sigmoid(a[i] + b[i]), sigmoid(a[n + i] + b[n + i])];
          return z * v + (1 - z) * Math.tanh(a[2 * n + i] + r * b[2 * n + i]);
        });
      };
      const read = (Wx, Wh, letters) => {
        let h = Array(Wh[0].length).fill(0);
        return letters.map((id) => (h = gru(Wx, Wh, h, embedding[id])));
      };
      const ahead = read(rightX, rightH, ids);
      const back = read(leftX, leftH, [...ids].reverse()).reverse();
      const states = ahead.map((h, j) => [...h, ...back[j]]);
      const keys = states.map((h) => times(W_k, h));
      let s = times(S, [...ahead.at(-1), ...back[0]], S_b).map(Math.tanh);
      let y = 1; // <bos>
      const found = { weights: [[]], p: [], written: [] };
      for (let t = 0; t < 11; t++) {
        const q = times(W_q, s);
        const weights = softmax(keys.map((k) => dot(w_v[0], add(q, k).map(Math.tanh))));
        const c = blend(weights, states);
        s = gru(cellX, cellH, s, [...tokens[y], ...c]);
        const p = softmax(times(O, [...s, ...c], O_b));
        y = top(p);
        if (y === 2) break; // <eos>
        found.weights[0].push(weights);
        found.p.push(p);
        found.written.push(y);
      }
      return found;
    },
    singer: (W, ids) => decode(W, ids, 2),
  };
  const quoted = (all, say) => {
    const shown = all.slice(0, 3).map((t) => `“${[...t].length > 16 ? `${[...t].slice(0, 16).join("")}…` : t}”`);
    return shown.join(", ") + (all.length > 3 ? say(" and more") : "");
  };
  const MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ");
  const isDate = (text) => { // whether the calendar has it, in one of the chapter's eight spellings
    const m = "(?<mon>[a-z]{3})", d = "(?<d>\\d\\d?)", y = "(?<y>\\d{4})", n = "(?<n>\\d\\d?)";
    const forms = [`${m} ${d}, ${y}`, `${d} ${m} ${y}`, `${y} ${m} ${d}`, `${d}-${m}-${y}`, `${n}/${d}/${y}`, `${d}\\.${n}\\.${y}`, `${m} ${y}`, `${n}/${y}`];
    return forms.some((form) => {
      const found = text.match(new RegExp(`^${form}$`))?.groups;
      if (!found) return false;
      const month = found.n ?? MONTHS.indexOf(found.mon) + 1;
      const day = Number(found.d ?? 1);
      return month > 0 && month < 13 && day > 0 && day <= new Date(Date.UTC(2000 + (found.y % 400), month, 0)).getUTCDate();
    });
  };
  const taken = (say, parts, vocabulary, most, what, takes, gap = "") => {
    if (!parts.length) return { wrong: say("Nothing is typed. {takes}", { takes }) };
    if (parts.length > most) return { wrong: say("These are {count} {what}, and it takes at most {most}.", { count: parts.length.toLocaleString("en-US"), what, most }) };
    const unknown = [...new Set(parts.filter((part) => !vocabulary.includes(part)))];
    if (unknown.length) return { wrong: say("Not among the {vocabulary} {what} that this model knows: {quoted}. {takes}", { vocabulary: vocabulary.length, what, quoted: quoted(unknown, say), takes }) };
    return { tokens: parts, text: parts.join(gap), ids: parts.map((part) => vocabulary.indexOf(part)) };
  };
  const takes = { // what is typed -> tokens and their numbers, or what is wrong with them
    sentence: (text, { reads }, say) => taken(say, text.slice(0, 20000).toLowerCase().match(/[^\s.,;:!?]+/g) ?? [], reads, 12, say("words"), say("Choose from the lists."), " "),
    translator: (text, { reads }, say) => {
      const found = taken(say, [...text.toLowerCase().trim()], reads.slice(1), 20, say("characters"), say("It takes dates such as 27 mar 2024, mar 27, 2024 or 4/7/1986."));
      if (found.ids) {
        found.ids = found.ids.map((id) => id + 1); // 0 is padding
        if (!isDate(found.text)) found.note = say(", though this is no date in one of the eight spellings.");
      }
      return found;
    },
    singer: (text, { reads }, say) => taken(say, [...text.toLowerCase().replace(/\s/g, "")], reads, 24, say("letters"), say("It takes the letters a to z.")),
    writer: (text, { reads }, say) => taken(say, [...text], reads, 64, say("characters"), say("It takes the characters of this book.")),
  };

  const NS = "http://www.w3.org/2000/svg";
  const paint = (svg, shapes) => { // what is there already moves
    shapes.forEach(([tag, attributes, text], i) => {
      let element = svg.children[i];
      if (element?.localName !== tag) {
        const fresh = document.createElementNS(NS, tag);
        element ? element.replaceWith(fresh) : svg.append(fresh);
        element = fresh;
      }
      for (const [name, value] of Object.entries({ class: "", ...attributes })) element.setAttribute(name, value);
      if (text !== undefined && element.textContent !== text) element.textContent = text;
    });
    while (svg.children.length > shapes.length) svg.lastChild.remove();
  };
  const r = (v) => Math.round(v * 10) / 10;
  const line = (tokens, width) => { // places in a row: their middles, and the size of the letters
    const sizes = tokens.map((t) => (t.length > 1 ? 8.4 * t.length + 14 : 22));
    const all = sizes.reduce((a, b) => a + b, 0);
    const scale = Math.min(1.15, width / all);
    let at = (width - all * scale) / 2;
    return { font: r(16 * scale), x: sizes.map((s) => ((at += s * scale), r(at - (s * scale) / 2))) };
  };
  const stroke = (weight, thick) => (r(weight * thick) ? `stroke-width:${r(weight * thick)}px` : "stroke:none"); // a line of width 0 is printed
  const draw = { // tokens, written (or none), weights of each that asks, who asks, size
    row: (tokens, written, rows, asks, [width, height, numbers]) => {
      const { font, x } = line(tokens, width);
      const base = height - (numbers ? 24 : 8);
      const end = r(base - font);
      const shapes = rows[asks].map((w, j) => {
        const far = Math.abs(x[j] - x[asks]), apart = far ? 0 : 9;
        const up = r(end - (Math.min(far ? 22 + 0.4 * far : 36, end - 14) * 4) / 3);
        const [a, b] = [x[asks] + apart, x[j] - apart].map(r);
        return ["path", { d: `M${a} ${end}C${a} ${up} ${b} ${up} ${b} ${end}`, style: stroke(w, numbers ? 16 : 11) }];
      });
      tokens.forEach((t, j) => shapes.push(["text", { x: x[j], y: base, "font-size": font, class: j === asks ? "asks" : "" }, t]));
      if (numbers) tokens.forEach((_, j) => shapes.push(["text", { x: x[j], y: height - 6, "font-size": 12, class: "number" }, rows[asks][j] >= 0.05 ? rows[asks][j].toFixed(2) : ""]));
      return shapes;
    },
    column: (tokens, written, rows, asks, [, height]) => {
      const y = tokens.map((_, j) => 16 + j * 20);
      const shapes = rows[asks].map((w, j) => {
        const [a, b] = [y[asks] - 5 + (j === asks ? 6 : 0), y[j] - 5 - (j === asks ? 6 : 0)];
        const out = r(134 + Math.min(30 + 0.6 * Math.abs(a - b), 150) * (4 / 3));
        return ["path", { d: `M134 ${a}C${out} ${a} ${out} ${b} 134 ${b}`, style: stroke(w, 14) }];
      });
      tokens.forEach((t, j) => shapes.push(["text", { x: 84, y: y[j], "font-size": 16, class: j === asks ? "end asks" : "end" }, t]));
      tokens.forEach((_, j) => shapes.push(["text", { x: 126, y: y[j], "font-size": 13, class: "end number" }, rows[asks][j] >= 0.05 ? rows[asks][j].toFixed(2) : ""]));
      return shapes;
    },
    rows: (tokens, written, rows, asks, [width, height], shown = written.length) => {
      const [above, below] = [line(tokens, width), line(written, width)];
      const [from, to] = [r(height - 12 - below.font), r(8 + above.font)];
      const shapes = [];
      rows.forEach((weights, t) => weights.forEach((w, j) => {
        if (t !== asks && w < 0.05) w = 0;
        const [a, b, middle] = [below.x[t], above.x[j], r((from + to) / 2)];
        shapes.push(["path", { d: `M${a} ${from}C${a} ${middle} ${b} ${middle} ${b} ${to}`, style: stroke(t < shown ? w : 0, 11), class: t === asks ? "" : "pale" }]);
      }));
      tokens.forEach((t, j) => shapes.push(["text", { x: above.x[j], y: above.font, "font-size": above.font }, t]));
      written.forEach((t, i) => shapes.push(["text", { x: below.x[i], y: height - 8, "font-size": below.font, class: i === asks ? "asks" : "" }, i < shown ? t : ""]));
      return shapes;
    },
  };
  const says = (say, asker, tokens, panels, letters) => {
    const named = (j) => letters ? say("letter {j} ({tokens})", { j: j + 1, tokens: tokens[j].replace(" ", say("gap")) }) : tokens[j];
    const gets = (weights, most) => {
      const order = weights.map((w, j) => [w, j]).sort((a, b) => b[0] - a[0] || a[1] - b[1]).slice(0, most);
      const kept = order.filter(([w]) => w >= 0.05);
      const rest = 1 - kept.reduce((sum, [w]) => sum + w, 0);
      const told = kept.map(([w, j]) => `${named(j)} ${w.toFixed(2)}`);
      if (most > 1 && rest >= 0.05) told.push(say("all others {rest}", { rest: rest.toFixed(2) }));
      return told.join(", ");
    };
    if (panels.length === 1) return say("“{asker}” gives weight to: {gets}.", { asker, gets: gets(panels[0], 3) });
    const each = panels.map((weights) => gets(weights, 1) || say("none")).join(", ");
    return say("“{asker}” gives most weight to, head by head: {panels}.", { asker, panels: each });
  };

  const make = (tag, properties, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };
  const ready = (root) => new Promise((done) => { // the weights stand in the page, or come with its first use
    if (root.dataset.weights) return done(root.dataset.weights);
    const source = root.dataset.from;
    const script = make("script", { src: source });
    script.onload = () => done(globalThis.d2lWeights[source]);
    document.head.append(script);
  });
  const start = (root) => {
    const [held, words] = [root.dataset.held, root.dataset.words].map((text) => JSON.parse(text));
    const { kind, steps, shapes, panels } = held;
    const say = (message, fields) => words[message].replace(/\{(\w+)\}/g, (_, name) => fields[name]);
    const take = (typed) => takes[kind](typed, held, say);
    const find = (what) => root.querySelector(what);
    const [set, stage, told, out] = [".set", ".stage", ".says", ".out"].map(find);
    const layouts = kind === "sentence" ? ["row", "column"] : [kind === "translator" ? "rows" : "row"];
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    let weights, last, timer;
    const text = make("input", { type: "text", value: held.text, autocomplete: "off", spellcheck: false });
    const slider = (name, max, value) => {
      const input = make("input", { type: "range", min: 0, max, value });
      const output = make("output");
      set.append(make("label", {}, make("span", { textContent: name }), input, output));
      const label = (words) => { output.textContent = words; input.setAttribute("aria-valuetext", words); };
      return { input, label };
    };
    set.replaceChildren(make("label", { className: "typed" }, make("span", { textContent: words.ask }), text));
    const selects = held.choices?.map(([name, words], i) => {
      const select = make("select", {}, ...words.map((word) => make("option", { textContent: word })));
      set.append(make("label", { className: "choice" }, make("span", { textContent: name }), select));
      select.value = held.chosen[i];
      select.addEventListener("change", () => {
        let next = 0;
        text.value = held.pattern.replace(/\{\}/g, () => selects[next++].value);
        show();
      });
      return select;
    });
    const step = slider(say("training steps"), steps.length - 1, held.step);
    const asks = layouts[0] === "row" && selects ? null : slider(words.asker, 999, held.asks);
    const svgs = panels.map((name) => {
      const box = make("figure", {}, ...(name ? [make("figcaption", { textContent: words[name] })] : []));
      const drawn = layouts.map((layout) => {
        const svg = document.createElementNS(NS, "svg");
        const [width, height] = layout === "column" ? [300, 246] : held.size;
        svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
        svg.setAttribute("class", layout);
        svg.setAttribute("aria-hidden", "true");
        box.append(svg);
        return [layout, svg];
      });
      return [box, drawn];
    });
    stage.replaceChildren(...svgs.map(([box]) => box));
    const picture = (shown) => {
      const { read, run, at } = last;
      svgs.forEach(([, drawn], i) => drawn.forEach(([layout, svg]) =>
        paint(svg, draw[layout](read.tokens, run.tokens, run.weights[i], at, held.size, shown))));
    };
    const show = () => {
      if (!weights) return;
      clearInterval(timer);
      const read = take(text.value);
      step.label(String(steps[step.input.value]));
      text.setAttribute("aria-invalid", Boolean(read.wrong));
      stage.classList.toggle("old", Boolean(read.wrong));
      if (read.wrong) {
        told.textContent = read.wrong;
        out.textContent = "";
        return;
      }
      const run = models[kind](weights(step.input.value), read.ids);
      run.tokens = kind === "translator" ? run.written.map((id) => held.writes[id]) : null;
      const asking = run.tokens ?? read.tokens;
      let at = read.tokens.length - 1;
      if (asks) {
        if (last && last.read.text !== read.text && !run.tokens) asks.input.value = asks.input.max = at;
        asks.input.max = Math.max(asking.length - 1, 0);
        at = Number(asks.input.value);
        asks.label(`${at + 1}: ${asking[at] ?? say("none")}`);
      }
      last = { read, run, at };
      const rows = run.weights.map((each) => each[at]);
      told.textContent = asking.length ? says(say, asking[at], read.tokens, rows, kind !== "sentence") : say("It writes nothing.");
      out.textContent = `${words.result} ${results[kind](run, read)}${read.note ?? ""}`;
      picture();
    };
    const results = {
      sentence: (run) => held.reads[run.written[0]],
      translator: (run) => run.tokens.join(""),
      singer: (run) => held.reads[run.written[last.at]],
    };
    const play = () => { // digit by digit
      show();
      if (text.getAttribute("aria-invalid") === "true" || !last.run.tokens.length) return;
      asks.input.value = last.run.tokens.length - 1;
      let shown = 0;
      if (still) return show();
      timer = setInterval(() => {
        shown++;
        last.at = shown - 1;
        asks.input.value = last.at;
        picture(shown);
        if (shown >= last.run.tokens.length) show();
      }, 450);
    };
    if (kind === "translator") {
      const button = make("button", { type: "button", textContent: say("Write") });
      find(".typed").append(button);
      button.addEventListener("click", play);
      text.addEventListener("keydown", (event) => event.key === "Enter" && play());
    }
    for (const input of [text, step.input, asks?.input]) input?.addEventListener("input", show);
    for (const [, drawn] of asks ? svgs : []) for (const [, svg] of drawn) svg.addEventListener("click", (event) => {
      const row = (last.run.tokens ?? last.read.tokens).length;
      const letters = [...svg.querySelectorAll("text")].slice(-row);
      const apart = letters.map((t) => Math.abs(t.getBoundingClientRect().x + t.getBoundingClientRect().width / 2 - event.clientX));
      asks.input.value = apart.indexOf(Math.min(...apart));
      show();
    });
    ready(root).then((all) => {
      const stored = all.split(" "), unpacked = [];
      weights = (i) => (unpacked[i] ??= unpack(stored[i], shapes));
      root.dataset.ready = "";
      root.run = (input, at) => models[kind](weights(at), take(input).ids); // for tests
      find(".still")?.remove();
      show();
    });
  };
  const write = (root) => { // letter by letter, from what is typed
    const [held, words] = [root.dataset.held, root.dataset.words].map((text) => JSON.parse(text));
    const say = (message, fields) => words[message].replace(/\{(\w+)\}/g, (_, name) => fields[name]);
    const [set, told, out] = [".set", ".says", ".out"].map((what) => root.querySelector(what));
    const text = make("input", { type: "text", value: held.text, autocomplete: "off", spellcheck: false });
    const button = make("button", { type: "button", textContent: say("Write") });
    const heat = make("select", {}, ...["0.3", "0.6", "1.0"].map((t) => make("option", { textContent: t })));
    heat.value = "0.6";
    set.append(make("label", { className: "typed" }, make("span", { textContent: words.ask }), text, button));
    set.append(make("label", { className: "choice" }, make("span", { textContent: say("temperature") }), heat));
    root.querySelector(".still").remove();
    let W, timer, seed = 0;
    const go = async () => {
      clearInterval(timer);
      const read = takes.writer(text.value, held, say);
      text.setAttribute("aria-invalid", Boolean(read.wrong));
      told.textContent = read.wrong ?? "";
      out.textContent = "";
      if (read.wrong) return;
      W ??= unpack(await ready(root), held.shapes);
      const { ids } = read;
      let kept;
      out.textContent = text.value;
      timer = setInterval(() => {
        const anew = !kept || ids.length % 64 === 0; // so that it reads 128 characters at most, as in training
        if (anew) kept = [];
        const logits = decode(W, ids.slice(anew ? -64 : -1), 4, kept).logits.at(-1);
        seed = (seed * 1664525 + 1013904223) % 2 ** 32; // a page writes the same on every visit
        let left = seed / 2 ** 32;
        ids.push(Math.max(0, softmax(logits.map((a) => a / heat.value)).findIndex((share) => (left -= share) < 0)));
        out.textContent += held.reads[ids.at(-1)];
        if (ids.length >= 300) clearInterval(timer);
      }, 20);
    };
    button.addEventListener("click", go);
    text.addEventListener("keydown", (event) => event.key === "Enter" && go());
    root.run = async (typed) => decode((W ??= unpack(await ready(root), held.shapes)), takes.writer(typed, held, say).ids, 4); // for tests
  };
  for (const root of document.querySelectorAll(".d2l-arcs:not([data-live])")) {
    root.dataset.live = "";
    if (root.matches(".writer")) {
      if (root.dataset.from) write(root); // the site has its weights
      continue;
    }
    root.addEventListener("focusin", ({ target }) => target.setAttribute("data-lm-suppress-shortcuts", "true")); // JupyterLab: keys are mine
    if (root.dataset.weights) {
      start(root);
      continue;
    }
    const watch = new IntersectionObserver((seen) => {
      if (!seen.some((entry) => entry.isIntersecting)) return;
      watch.disconnect();
      start(root);
    }, { rootMargin: "600px" });
    watch.observe(root);
  }
