// Search the sections of the book, which sections.js lists: no index to fetch, also from a file.
(() => {
  const say = (text) => globalThis.d2lWords?.[text] ?? text;
  const MOST = 30, AROUND = 110, WHOLE = 3; // results, letters of a snippet, words found as they are
  // masked_softmax is also found as "Masked softmax".
  const escaped = (word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replaceAll("_", "[_ ]");
  // A word is found where a word begins; a very short one only as a whole word.
  // Chinese has no gaps between words, and Korean joins them: theirs are found anywhere.
  const JOINED = /[\p{Script=Han}\p{Script=Hangul}]/u;
  const pattern = (word) => {
    if (JOINED.test(word)) return new RegExp(escaped(word), "giu");
    return new RegExp(`(?<![\\p{L}\\p{N}_])${escaped(word)}${word.length < WHOLE ? "(?![\\p{L}\\p{N}_])" : ""}`, "giu");
  };
  const count = (text, of) => (text.match(of) || []).length;

  const SECTIONS = Object.entries(PAGES).flatMap(([page, parts]) =>
    parts.map(([anchor, title, text, bold]) => [page, anchor, parts[0][1], title, text, bold]));

  const ranked = (query) => {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    const patterns = words.map(pattern), phrase = pattern(words.join(" "));
    const score = ([, , page, title, text, bold]) => {
      if (!patterns.every((p) => count(title, p) + count(text, p) + count(page, p))) return 0;
      if (!patterns.some((p) => count(title, p) + count(text, p))) return 0;
      const rare = Math.sqrt(Math.min(1, 1500 / (text.length + 1))); // a long section has every word
      let sum = 15 * count(title, phrase) + 10 * rare * Math.min(count(text, phrase), 4);
      if ([title, ...bold].some((words) => words.toLowerCase() === query.toLowerCase())) sum += 30; // it explains a term in bold
      for (const p of patterns)
        sum += 4 * count(title, p) + 2 * count(page, p) + rare * Math.min(count(text, p), 4);
      return sum;
    };
    const found = SECTIONS.map((section) => ({ section, score: score(section) }));
    return { patterns, found: found.filter((f) => f.score).sort((a, b) => b.score - a.score) };
  };

  const marked = (text, patterns) => {
    const line = document.createElement("p");
    line.className = "context";
    const spots = patterns.flatMap((p) => [...text.matchAll(p)].map((m) => [m.index, m.index + m[0].length]));
    spots.sort((a, b) => a[0] - b[0]);
    const wanted = (spots[0]?.[0] ?? 0) - AROUND; // from here on, whole words
    // Where the next gap is far, as in Chinese, a snippet begins and ends between two letters.
    const gap = (from) => {
      const at = text.indexOf(" ", from);
      return at < 0 || at > from + AROUND / 2 ? from : at;
    };
    const first = wanted > 0 ? gap(wanted) : 0, last = Math.min(gap(first + 2 * AROUND), text.length);
    let at = first;
    line.append(first ? "… " : "");
    for (const [from, to] of spots) {
      if (from < at || to > last) continue;
      const mark = document.createElement("mark");
      mark.textContent = text.slice(from, to);
      line.append(text.slice(at, from), mark);
      at = to;
    }
    line.append(text.slice(at, last), last < text.length ? " …" : "");
    return line;
  };

  const show = (query, box) => {
    const { patterns, found } = ranked(query);
    const said = document.createElement("p");
    said.className = "search-summary";
    said.setAttribute("role", "status");
    said.textContent = found.length ? say("{count} sections").replace("{count}", found.length) : say("Nothing found: try fewer or other words.");
    const list = document.createElement("ul");
    list.className = "search";
    for (const { section: [page, anchor, pageTitle, title, text] } of found.slice(0, MOST)) {
      const item = document.createElement("li"), link = document.createElement("a");
      link.href = `${page}#${encodeURIComponent(anchor)}`;
      link.textContent = title && title !== pageTitle ? `${pageTitle} › ${title}` : pageTitle;
      item.append(link, marked(text, patterns));
      list.append(item);
    }
    box.replaceChildren(said, ...(found.length ? [list] : []));
  };

  document.addEventListener("DOMContentLoaded", () => {
    const query = (new URLSearchParams(location.search).get("q") ?? "").trim().normalize("NFC");
    for (const input of document.querySelectorAll("input[name=q]")) input.value = query;
    if (query) show(query, document.getElementById("search-results"));
  });
})();
