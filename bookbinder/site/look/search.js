// Search the sections of the book, which sections.js lists: no index to fetch, also from a file.
{
  const MOST = 30, AROUND = 110, WHOLE = 3; // results, letters of a snippet, words found as they are
  // A word is found where a word begins, a very short one only as a whole word; masked_softmax is
  // also found as "Masked softmax". Chinese has no gaps between words, and Korean joins them:
  // theirs are found anywhere.
  const pattern = (word) => {
    const escaped = word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replaceAll("_", "[_ ]");
    if (/[\p{Script=Han}\p{Script=Hangul}]/u.test(word)) return escaped;
    return `(?<![\\p{L}\\p{N}_])${escaped}${word.length < WHOLE ? "(?![\\p{L}\\p{N}_])" : ""}`;
  };
  const count = (text, of) => text.match(new RegExp(of, "giu"))?.length ?? 0;

  const ranked = (query, patterns) => {
    const phrase = pattern(query.toLowerCase());
    const score = ({ page, title, text, bold }) => {
      const rare = Math.sqrt(Math.min(1, 1500 / (text.length + 1))); // a long section has every word
      const worth = (p) => 4 * count(title, p) + rare * Math.min(count(text, p), 4);
      const of_page = (p) => 2 * count(page, p);
      if (!patterns.some(worth) || !patterns.every((p) => worth(p) + of_page(p))) return 0;
      const explains = [title, ...bold].some((words) => words.toLowerCase() === query.toLowerCase());
      const sum = patterns.reduce((before, p) => before + worth(p) + of_page(p), explains ? 30 : 0);
      return sum + 15 * count(title, phrase) + 10 * rare * Math.min(count(text, phrase), 4);
    };
    const sections = Object.entries(PAGES).flatMap(([file, parts]) => parts.map(([anchor, title, text, bold]) =>
      ({ href: `${file}#${encodeURIComponent(anchor)}`, page: parts[0][1], title, text, bold })));
    return sections.map((section) => ({ ...section, score: score(section) }))
      .filter((section) => section.score).sort((a, b) => b.score - a.score);
  };

  const snippet = (text, patterns) => {
    const any = new RegExp(`(${patterns.join("|")})`, "giu");
    // Whole words; where the next gap is far, as in Chinese, it begins and ends between two letters.
    const gap = (from) => {
      const at = text.indexOf(" ", from);
      return at < 0 || at > from + AROUND / 2 ? from : at;
    };
    const wanted = text.search(any) - AROUND, first = wanted > 0 ? gap(wanted) : 0;
    const last = Math.min(gap(first + 2 * AROUND), text.length);
    const parts = text.slice(first, last).split(any).map((part, at) => at % 2 ? make("mark", {}, part) : part);
    return make("p", { className: "context" }, first ? "… " : "", ...parts, last < text.length ? " …" : "");
  };

  const show = (query, box) => {
    const patterns = query.toLowerCase().split(/\s+/).map(pattern), found = ranked(query, patterns);
    const items = found.slice(0, MOST).map(({ href, page, title, text }) => {
      const words = title && title !== page ? `${page} › ${title}` : page;
      return make("li", {}, make("a", { href }, words), snippet(text, patterns));
    });
    const summary = found.length ? say("{count} sections").replace("{count}", found.length) : say("Nothing found: try fewer or other words.");
    box.replaceChildren(make("p", { className: "search-summary", role: "status" }, summary), make("ul", { className: "search" }, ...items));
  };

  addEventListener("DOMContentLoaded", () => {
    const query = (new URLSearchParams(location.search).get("q") ?? "").trim().normalize("NFC");
    for (const input of all("input[name=q]")) input.value = query;
    if (query) show(query, document.getElementById("search-results"));
  });
}
