// The explorer of the home page: what each word of the reader's sentence attends to.
// bookbinder/site/home_explorer.py computes the same; site_tests/test_home.py compares the two.
const bookSentence = (() => {
  const wordsOf = (text, most) =>
    text.split(/\s+/)
      .map((word) => [...word.normalize("NFC").toLowerCase()].filter((c) => /[\p{L}\p{N}]/u.test(c)).join(""))
      .filter(Boolean)
      .slice(0, most);
  const counted = (word) => {
    const counts = new Map();
    for (const letter of word) counts.set(letter, (counts.get(letter) ?? 0) + 1);
    const length = Math.hypot(...counts.values());
    return { counts, length };
  };
  const scores = (words) => {
    const vectors = words.map(counted);
    return vectors.map((query) =>
      vectors.map((key) => {
        let dot = 0;
        for (const [letter, n] of query.counts) dot += n * (key.counts.get(letter) ?? 0);
        return dot / (query.length * key.length);
      }));
  };
  const weights = (row, sharpness) => {
    const best = Math.max(...row);
    const exps = row.map((score) => Math.exp(sharpness * (score - best)));
    const sum = exps.reduce((a, b) => a + b, 0);
    return exps.map((part) => part / sum);
  };
  return { wordsOf, scores, weights };
})();

for (const box of document.querySelectorAll(".sentence")) {
  const find = (what) => box.querySelector(what);
  const text = find("input[type=text]");
  const slider = find("input[type=range]");
  const stage = find(".sentence-stage");
  const row = find(".sentence-words");
  const svg = find("svg");
  const most = Number(box.dataset.most);
  const THICKEST = 30; // px, an arc of weight 1
  let words = [];
  let table = [];
  let chosen = Number(box.dataset.chosen);

  const arc = (from, to) => {
    // Over a row of words, or beside a column of them; the word's own weight is a loop.
    const down = stage.classList.contains("column");
    const place = (word) => {
      const { offsetLeft: x, offsetTop: y, offsetWidth: w, offsetHeight: h } = word;
      return down ? [x + w + 2, y + h / 2] : [x + w / 2, y - 2];
    };
    const [a, b] = [place(row.children[from]), place(row.children[to])];
    const along = down ? 1 : 0;
    const far = Math.abs(b[along] - a[along]);
    const room = down ? stage.clientWidth - a[0] - 20 : a[1] - 16;
    const high = Math.min((from === to ? 56 : 26 + 0.42 * far), room) * 4 / 3;
    const apart = from === to ? 16 : 0; // between the two ends of a loop
    const ends = [a, b].map((point, i) => {
      const moved = [...point];
      moved[along] += (i ? 1 : -1) * apart;
      return moved;
    });
    const [p, q] = ends;
    const [above, below] = ends.map((point) => {
      const moved = [...point];
      moved[1 - along] += down ? high : -high;
      return moved;
    });
    return `M${p}C${above} ${below} ${q}`;
  };
  const draw = () => {
    const sharpness = Number(slider.value);
    find("output").textContent = slider.value;
    slider.setAttribute("aria-valuetext", `sharpness ${slider.value}`);
    find(".sentence-says").classList.toggle("visually-hidden", words.length > 0); // the arcs say it
    if (!words.length) {
      svg.replaceChildren();
      find("tbody").replaceChildren();
      find(".sentence-says").textContent = "Type a sentence: two or three words are enough.";
      return;
    }
    const shares = bookSentence.weights(table[chosen], sharpness);
    [...row.children].forEach((word, i) => word.setAttribute("aria-pressed", i === chosen));
    words.forEach((_, i) => {
      const path = svg.children[i];
      path.setAttribute("d", arc(chosen, i));
      path.style.strokeWidth = `${shares[i] * THICKEST}px`;
    });
    const shown = shares.map((share) => share.toFixed(2));
    find(".sentence-says").textContent =
      `“${words[chosen]}” attends to: ${words.map((word, i) => `${word} ${shown[i]}`).join(", ")}.`;
    [...find("tbody").rows].forEach((line, i) => {
      const score = table[chosen][i];
      [score, sharpness * score, shares[i]].forEach((n, at) => { line.cells[at + 1].textContent = n.toFixed(2); });
    });
  };
  const lay = () => {
    stage.classList.remove("column");
    if (row.scrollWidth > row.clientWidth || stage.clientWidth < 480) stage.classList.add("column");
    draw();
  };
  const choose = (i) => {
    if (i === chosen) return;
    chosen = i;
    draw();
  };
  const read = () => {
    words = bookSentence.wordsOf(text.value, most);
    table = bookSentence.scores(words);
    chosen = Math.max(Math.min(chosen, words.length - 1), 0);
    row.replaceChildren(...words.map((word, i) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = word;
      button.addEventListener("pointerenter", () => choose(i));
      button.addEventListener("focus", () => choose(i));
      button.addEventListener("click", () => choose(i));
      return button;
    }));
    svg.replaceChildren(...words.map(() => document.createElementNS(svg.namespaceURI, "path")));
    find("tbody").replaceChildren(...words.map((word) => {
      const line = document.createElement("tr");
      line.append(Object.assign(document.createElement("th"), { scope: "row", textContent: word }));
      for (let i = 0; i < 3; i++) line.append(document.createElement("td"));
      return line;
    }));
    lay();
  };
  row.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    row.children[(chosen + step + words.length) % words.length].focus();
  });
  text.addEventListener("input", read);
  slider.addEventListener("input", draw);
  for (const part of box.querySelectorAll("[hidden]")) part.hidden = false;
  read();
  addEventListener("resize", lay);
  document.fonts?.ready.then(lay);
}
