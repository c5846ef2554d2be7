// Read TeX from standard input, write it typeset, with one style sheet: run by equations.py.
const { mathjax, equations } = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
const METRICS = [16, 8, 1280, 1e6, 1]; // em, ex, widths and scale, which change nothing here
const PLAIN = / (class="MathJax"|jax="CHTML"|style="position: relative;"|unselectable="on"|xmlns="[^"]+"|(data-mjx-)?texclass="\w+")/g; // which nobody misses
require(`${mathjax}/node-main.js`).init({
  loader: {
    load: ["input/tex-base", "[tex]/ams", "[tex]/boldsymbol", "output/chtml", "adaptors/liteDOM", "a11y/assistive-mml"],
    versionWarnings: false, // liteDOM names none
    paths: { mathjax },
    require,
  },
  tex: { packages: ["base", "ams", "boldsymbol"], formatError: (_, error) => { throw error; } },
  chtml: { mtextInheritFont: false, fontURL: "fonts" },
  startup: { typeset: false },
}).then(({ startup: { document: page, adaptor } }) => {
  // Letters that MathJax has no font for, as Han, are measured beside a node of the page.
  const place = adaptor.append(adaptor.body(page.document), adaptor.text(""));
  const typeset = ([tex, display]) => {
    const item = new page.options.MathItem(tex, page.inputJax[0], display, { node: place });
    item.setMetrics(...METRICS);
    try {
      item.convert(page);
    } catch (error) {
      return { error: error.message };
    }
    const { w } = page.outputJax.getBBox(item, page);
    return { html: adaptor.outerHTML(item.typesetRoot).replace(PLAIN, ""), width: w };
  };
  const made = equations.map(typeset);
  process.stdout.write(JSON.stringify({ made, style: adaptor.textContent(page.outputJax.styleSheet(page)) }));
});
