  // What a reader types, and the arcs of the attention of a trained model that reads it.
  const MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ");
  const isDate = (text) => { // whether the calendar has it, in one of the chapter's eight spellings
    const m = "(?<mon>[a-z]{3})", d = "(?<d>\\d\\d?)", y = "(?<y>\\d{4})", n = "(?<n>\\d\\d?)";
    const forms = [`${m} ${d}, ${y}`, `${d} ${m} ${y}`, `${y} ${m} ${d}`, `${d}-${m}-${y}`, `${n}/${d}/${y}`, `${d}\\.${n}\\.${y}`, `${m} ${y}`, `${n}/${y}`];
    return forms.some((form) => {
      const found = text.match(new RegExp(`^${form}$`))?.groups;
      if (!found) return false;
      const month = found.n ?? MONTHS.indexOf(found.mon) + 1, day = Number(found.d ?? 1);
      return month > 0 && month < 13 && day > 0 && day <= new Date(Date.UTC(2000 + (found.y % 400), month, 0)).getUTCDate();
    });
  };
  const quoted = (all, say) => {
    const shown = all.slice(0, 3).map((t) => `“${[...t].length > 16 ? `${[...t].slice(0, 16).join("")}…` : t}”`);
    return shown.join(", ") + (all.length > 3 ? say(" and more") : "");
  };
  const takes = { // what is typed -> tokens, how many may be, what they are, what to type
    sentence: (text, say) => [text.slice(0, 20000).toLowerCase().match(/[^\s.,;:!?]+/g) ?? [], 12, say("words"), say("It takes words such as animal, street and tired.")],
    translator: (text, say) => [[...text.toLowerCase().trim()], 20, say("characters"), say("It takes dates such as 27 mar 2024, mar 27, 2024 or 4/7/1986.")],
    writer: (text, say) => [[...text], 64, say("characters"), say("It takes the characters of this book.")],
  };
  const take = (text, { kind = "writer", reads }, say) => { // -> tokens and their numbers, or what is wrong with them
    const [tokens, most, what, asked] = takes[kind](text, say);
    if (!tokens.length) return { wrong: say("Nothing is typed. {takes}", { takes: asked }) };
    if (tokens.length > most) return { wrong: say("These are {count} {what}, and it takes at most {most}.", { count: tokens.length.toLocaleString("en-US"), what, most }) };
    const unknown = [...new Set(tokens.filter((token) => !reads.includes(token)))];
    const vocabulary = reads.filter((token) => token !== "<pad>").length;
    if (unknown.length) return { wrong: say("Not among the {vocabulary} {what} that this model knows: {quoted}. {takes}", { vocabulary, what, quoted: quoted(unknown, say), takes: asked }) };
    const odd = kind === "translator" && !isDate(tokens.join(""));
    return { tokens, ids: tokens.map((token) => reads.indexOf(token)), note: odd ? say(", though this is no date in one of the eight spellings.") : "" };
  };

  const NS = "http://www.w3.org/2000/svg";
  const paint = (svg, shapes) => { // shapes of before move
    const tags = shapes.map(([tag]) => tag), before = [...svg.children].map((child) => child.localName);
    if (tags.join() !== before.join()) svg.replaceChildren(...tags.map((tag) => document.createElementNS(NS, tag)));
    shapes.forEach(([, attributes, text = ""], i) => {
      for (const [name, value] of Object.entries(attributes)) svg.children[i].setAttribute(name, value);
      svg.children[i].textContent = text;
    });
  };
  const r = (v) => Math.round(v * 10) / 10;
  const word = (text, x, y, size, kind = "") => ["text", { x, y, "font-size": size, class: kind }, text];
  const number = (weight) => (weight >= 0.05 ? weight.toFixed(2) : "");
  const arc = (d, weight, thick, kind = "") => ["path", { d, class: kind, style: r(weight * thick) ? `stroke-width:${r(weight * thick)}px` : "stroke:none" }]; // a line of width 0 is printed
  const line = (tokens, width) => { // places in a row: their middles, and the size of the letters
    const sizes = tokens.map((t) => (t.length > 1 ? 8.4 * t.length + 18 : 22));
    const all = sizes.reduce((a, b) => a + b, 0);
    const scale = Math.min(1.15, width / all);
    let at = (width - all * scale) / 2;
    return { font: r(16 * scale), x: sizes.map((s) => ((at += s * scale), r(at - (s * scale) / 2))) };
  };
  const draw = { // tokens, written (or none), weights of each that asks, who asks, size
    row: (tokens, written, rows, asks, [width, height, numbers]) => {
      const { font, x } = line(tokens, width), base = height - (numbers ? 24 : 8), end = r(base - font);
      const arcs = rows[asks].map((w, j) => {
        const far = Math.abs(x[j] - x[asks]), apart = far ? 0 : 9;
        const up = r(end - (Math.min(far ? 22 + 0.4 * far : 36, end - 14) * 4) / 3);
        const [a, b] = [x[asks] + apart, x[j] - apart].map(r);
        return arc(`M${a} ${end}C${a} ${up} ${b} ${up} ${b} ${end}`, w, numbers ? 16 : 11);
      });
      const words = tokens.map((t, j) => word(t, x[j], base, font, j === asks ? "asks" : ""));
      return [...arcs, ...words, ...(numbers ? tokens.map((_, j) => word(number(rows[asks][j]), x[j], height - 6, 12, "number")) : [])];
    },
    column: (tokens, written, rows, asks) => {
      const y = tokens.map((_, j) => 16 + j * 20);
      const arcs = rows[asks].map((w, j) => {
        const [a, b] = [y[asks] - 5 + (j === asks ? 6 : 0), y[j] - 5 - (j === asks ? 6 : 0)];
        const out = r(134 + Math.min(30 + 0.6 * Math.abs(a - b), 150) * (4 / 3));
        return arc(`M134 ${a}C${out} ${a} ${out} ${b} 134 ${b}`, w, 14);
      });
      const words = tokens.map((t, j) => word(t, 84, y[j], 16, j === asks ? "end asks" : "end"));
      return [...arcs, ...words, ...tokens.map((_, j) => word(number(rows[asks][j]), 126, y[j], 13, "end number"))];
    },
    rows: (tokens, written, rows, asks, [width, height], shown = written.length) => {
      const [above, below] = [line(tokens, width), line(written, width)];
      const [from, to] = [r(height - 12 - below.font), r(8 + above.font)], middle = r((from + to) / 2);
      const arcs = rows.flatMap((weights, t) => weights.map((w, j) => {
        const [a, b] = [below.x[t], above.x[j]], seen = t < shown && (t === asks || w >= 0.05);
        return arc(`M${a} ${from}C${a} ${middle} ${b} ${middle} ${b} ${to}`, seen ? w : 0, 11, t === asks ? "" : "pale");
      }));
      const words = tokens.map((t, j) => word(t, above.x[j], above.font, above.font));
      return [...arcs, ...words, ...written.map((t, i) => word(i < shown ? t : "", below.x[i], height - 8, below.font, i === asks ? "asks" : ""))];
    },
  };
  const LAYOUTS = { sentence: ["row", "column"], translator: ["rows"] }; // a column is for phones
  const figure = ({ kind, size }) => make("figure", {}, ...LAYOUTS[kind].map((layout) => {
    const svg = document.createElementNS(NS, "svg"), [width, height] = layout === "column" ? [300, 246] : size;
    const attributes = { viewBox: `0 0 ${width} ${height}`, class: layout, "aria-hidden": "true" };
    for (const [name, value] of Object.entries(attributes)) svg.setAttribute(name, value);
    return svg;
  }));
  const says = (say, asker, tokens, weights, letters) => {
    const named = (j) => letters ? say("letter {j} ({tokens})", { j: j + 1, tokens: tokens[j].replace(" ", say("gap")) }) : tokens[j];
    const order = weights.map((w, j) => [w, j]).sort((a, b) => b[0] - a[0] || a[1] - b[1]).slice(0, 3);
    const kept = order.filter(([w]) => w >= 0.05);
    const rest = 1 - kept.reduce((sum, [w]) => sum + w, 0);
    const told = kept.map(([w, j]) => `${named(j)} ${w.toFixed(2)}`);
    if (rest >= 0.05) told.push(say("all others {rest}", { rest: rest.toFixed(2) }));
    return say("“{asker}” gives weight to: {gets}.", { asker, gets: told.join(", ") });
  };

  const ready = (root) => new Promise((done) => { // the weights stand in the page, or come with its first use
    const { weights, from } = root.dataset;
    if (weights) return done(weights);
    document.head.append(make("script", { src: from, onload: () => done(globalThis.d2lWeights[from]) }));
  });
  const typing = (root, held, name, ...buttons) => { // where a reader types; `read` says what is wrong with it
    const text = make("input", { type: "text", value: held.text, autocomplete: "off", spellcheck: false });
    root.querySelector(".set").append(field(name, "typed", text, ...buttons));
    root.querySelector(".still").remove();
    text.addEventListener("keydown", ({ key }) => key === "Enter" && buttons[0]?.click());
    const read = (say) => {
      const found = take(text.value, held, say), wrong = Boolean(found.wrong);
      text.ariaInvalid = wrong;
      root.querySelector(".stage")?.classList.toggle("old", wrong);
      root.querySelector(".says").textContent = found.wrong ?? "";
      root.querySelector(".out").textContent = "";
      return wrong ? null : found;
    };
    return { text, read };
  };
  const menus = ({ choices = [], pattern = "", size }, text, figure, show) => { // over the words to choose, where a sentence is of the pattern
    const form = new RegExp(`^${pattern.replaceAll("{}", "(\\S+)")}$`), places = pattern.split(" ").flatMap((word, j) => (word === "{}" ? j : []));
    const selects = choices.map(([ariaLabel, words]) => make("select", { ariaLabel }, ...words.map((word) => make("option", { textContent: word }))));
    figure.append(...selects);
    figure.onchange = () => {
      const chosen = selects.map((select) => select.value);
      text.value = pattern.replace(/\{\}/g, () => chosen.shift());
      show();
    };
    return (tokens) => {
      const { x } = line(tokens, size[0]), found = tokens.join(" ").match(form)?.slice(1) ?? [];
      selects.forEach((select, i) => {
        select.value = found[i];
        select.style = `--letters:${found[i]?.length};--j:${places[i]};--x:${x[places[i]] / size[0]}`;
      });
      for (const select of selects) select.hidden = selects.some(({ value }, i) => value !== found[i]);
    };
  };
  const nearest = (svg, count, x) => { // of the last so many texts of a picture
    const boxes = [...svg.querySelectorAll("text")].slice(-count).map((text) => text.getBoundingClientRect());
    const apart = boxes.map((box) => Math.abs(box.x + box.width / 2 - x));
    return apart.indexOf(Math.min(...apart));
  };
  const trained = async (root, held, words, say) => { // a model that reads what is typed
    const { kind, steps, shapes } = held, stored = (await ready(root)).split(" "), unpacked = [];
    const weights = (i) => (unpacked[i] ??= unpack(stored[i], shapes));
    const [set, stage, told, out] = [".set", ".stage", ".says", ".out"].map((part) => root.querySelector(part));
    const { text, read } = typing(root, held, words.ask, ...(kind === "translator" ? [button(say("Write"), () => write())] : []));
    const step = slider(say("training steps"), steps.map(String), held.step, () => show());
    const asks = words.asker && slider(words.asker, Array(1000).fill(""), held.asks, () => show());
    set.append(step.element, asks.element ?? "");
    stage.replaceChildren(figure(held));
    const lay = menus(held, text, stage.firstChild, () => show());
    let last, timer;
    const picture = (shown) => stage.querySelectorAll("svg").forEach((svg) => {
      paint(svg, draw[svg.getAttribute("class")](last.tokens, last.written, last.weights, last.at, held.size, shown));
    });
    const show = () => {
      clearInterval(timer);
      step.tell();
      const typed = read(say);
      if (!typed) return;
      const { tokens, ids, note } = typed, run = models[kind](weights(step.at()), ids);
      const written = kind === "translator" ? run.written.map((id) => held.writes[id]) : null;
      const asking = written ?? tokens, end = Math.max(asking.length - 1, 0);
      if (asks) asks.input.max = end;
      const at = asks ? asks.at() : end;
      if (asks) asks.tell(`${at + 1}: ${asking[at] ?? say("none")}`);
      last = { tokens, written, weights: run.weights, at };
      told.textContent = asking.length ? says(say, asking[at], tokens, run.weights[at], kind !== "sentence") : say("It writes nothing.");
      out.textContent = `${words.result} ${written?.join("") ?? held.reads[run.written[0]]}${note}`;
      picture();
      lay(tokens);
    };
    const write = () => { // digit by digit
      show();
      const count = text.ariaInvalid === "true" ? 0 : last.written.length;
      let shown = calm ? count : 0;
      if (count) timer = setInterval(() => {
        asks.input.value = last.at = Math.min(shown++, count - 1);
        shown < count ? picture(shown) : show();
      }, calm ? 0 : 450);
    };
    text.addEventListener("input", show);
    if (asks) for (const svg of stage.querySelectorAll("svg")) svg.addEventListener("click", ({ clientX }) => {
      asks.input.value = nearest(svg, last.written.length, clientX);
      show();
    });
    root.dataset.ready = "";
    root.run = (input, at) => models[kind](weights(at), take(input, held, say).ids); // for tests
    show();
  };
  const writer = (root, held, words, say) => { // a model that goes on letter by letter
    const { text, read } = typing(root, held, words.ask, button(say("Write"), () => write()));
    const heat = make("select", {}, ...["0.3", "0.6", "1.0"].map((t) => make("option", { textContent: t })));
    const out = root.querySelector(".out");
    heat.value = "0.6";
    root.querySelector(".set").append(field(say("temperature"), "", heat));
    let W, timer, seed = 0;
    const next = (ids, kept) => {
      const logits = decode(W, ids, kept).at(-1);
      seed = (seed * 1664525 + 1013904223) % 2 ** 32; // a page writes the same on every visit
      let left = seed / 2 ** 32;
      return Math.max(0, softmax(logits.map((a) => a / heat.value)).findIndex((share) => (left -= share) < 0));
    };
    const write = async () => {
      clearInterval(timer);
      const ids = read(say)?.ids;
      if (!ids) return;
      W ??= unpack(await ready(root), held.shapes);
      out.textContent = text.value;
      let kept;
      timer = setInterval(() => {
        const anew = !kept || ids.length % 64 === 0; // so that it reads 128 characters at most, as in training
        if (anew) kept = [];
        ids.push(next(ids.slice(anew ? -64 : -1), kept));
        out.textContent += held.reads[ids.at(-1)];
        if (ids.length >= 300) clearInterval(timer);
      }, 20);
    };
    root.run = async (typed) => decode((W ??= unpack(await ready(root), held.shapes)), take(typed, held, say).ids); // for tests
  };
  start(".d2l-arcs:is([data-weights], [data-from])", (root, read, say) => {
    const go = () => (root.matches(".writer") ? writer : trained)(root, read("held"), read("words"), say);
    if (root.dataset.weights || root.matches(".writer")) return go(); // a writer asks for its weights late
    const watch = new IntersectionObserver((seen) => {
      if (!seen.some((entry) => entry.isIntersecting)) return;
      watch.disconnect();
      go();
    }, { rootMargin: "600px" });
    watch.observe(root);
  });
