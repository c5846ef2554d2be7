// The table of contents of the book, a panel at the left of JupyterLab. What JupyterLab loads from
// an extension that was built beforehand is a container: it is handed the modules that all
// extensions share, and asked for the plugin. Its words, in calls of `say`, are put in before.
(() => {
  const CHAPTERS = [];
  const STYLE = `
    #book-contents { overflow-y: auto; padding: 8px 4px; background: var(--jp-layout-color1); }
    #book-contents h2 { font-size: 14px; margin: 4px 12px 8px; }
    #book-contents ol, #book-contents ul { list-style: none; margin: 0; padding: 0; }
    #book-contents a { display: block; padding: 4px 12px; color: inherit; text-decoration: none; border-radius: 4px; line-height: 1.35; }
    #book-contents a:hover { background: var(--jp-layout-color2); }
    #book-contents a:focus-visible { outline: 2px solid var(--jp-brand-color1); outline-offset: -2px; }
    #book-contents a[aria-current] { font-weight: 600; background: var(--jp-layout-color3); }
    #book-contents ul { display: none; margin: 2px 0 6px 14px; border-left: 1px solid var(--jp-border-color1); }
    #book-contents a[aria-current] + ul { display: block; }
    .jp-Notebook .jp-RenderedMarkdown { font-size: 16px; line-height: 1.55; }
    .jp-Notebook .jp-MarkdownOutput > :is(p, ul, ol, blockquote, details):not(:has(img, mjx-container[display])) { max-width: 68ch; }
    .jp-Notebook .jp-RenderedHTMLCommon table { margin-left: 0; font-size: 15px; }
    .jp-Notebook .jp-RenderedHTMLCommon :is(td, th) { text-align: left; }
    .jp-Notebook .jp-MarkdownOutput > blockquote { border-left: 4px solid var(--jp-brand-color1); background: var(--jp-layout-color2); padding: 8px 14px; margin: 12px 0; }
    .jp-Notebook .jp-MarkdownOutput > blockquote p { margin: 0; }
    .jp-Notebook .jp-MarkdownOutput > details { border: 1px solid var(--jp-border-color1); border-radius: 6px; padding: 4px 12px; margin: 6px 0; }
    .jp-Notebook .jp-MarkdownOutput > details > summary { cursor: pointer; font-weight: 600; }
    .jp-Notebook .jp-MarkdownOutput > details:not([open]) { display: inline-block; border-radius: 99px; padding: 0 12px; margin-right: 6px; }`;
  const ICON = `<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 24 24"><g class="jp-icon3"
    fill="#616161"><path d="M3 4h4v3H3zM9 4h12v3H9zM3 10.5h4v3H3zM9 10.5h12v3H9zM3 17h4v3H3zM9 17h12v3H9z"/></g></svg>`;

  const activate = (app, { Widget }, { LabIcon }) => {
    const go = async (file, section) => {
      const shown = await app.commands.execute("docmanager:open", { path: file });
      if (!section) return;
      await shown.context.ready;
      shown.setFragment(`#${section.replaceAll(" ", "-")}`);
    };
    const link = (text, file, section) => {
      const made = document.createElement("a");
      Object.assign(made, { textContent: text, href: "#" });
      made.addEventListener("click", (event) => {
        event.preventDefault();
        go(file, section);
      });
      return made;
    };
    const panel = new Widget();
    panel.id = "book-contents";
    panel.title.caption = say("Contents of the book");
    panel.title.icon = new LabIcon({ name: "book:contents", svgstr: ICON });
    panel.node.setAttribute("role", "navigation");
    panel.node.setAttribute("aria-label", say("Contents of the book"));
    const heading = document.createElement("h2");
    heading.textContent = say("Contents");
    const list = document.createElement("ol");
    const links = CHAPTERS.map(([file, title, sections]) => {
      const chapter = link(title, file);
      const inside = document.createElement("ul");
      for (const section of sections) {
        const item = document.createElement("li");
        item.append(link(section, file, section));
        inside.append(item);
      }
      const item = document.createElement("li");
      item.append(chapter, inside);
      list.append(item);
      return [file, chapter];
    });
    panel.node.append(heading, list);
    const style = document.createElement("style");
    style.textContent = STYLE;
    document.head.append(style);
    const mark = () => {
      const path = app.shell.currentWidget?.context?.path;
      for (const [file, chapter] of links) {
        if (file === path) chapter.setAttribute("aria-current", "page");
        else if (path?.endsWith(".ipynb")) chapter.removeAttribute("aria-current");
      }
    };
    app.shell.add(panel, "left", { rank: 1 });
    app.shell.currentChanged.connect(mark);
    app.restored.then(() => {
      mark();
      app.shell.activateById(panel.id);
    });
  };

  let shared;
  const take = async (name) => (await Object.values(shared[name])[0].get())();
  (window._JUPYTERLAB ??= {}).NAME = {
    init: (scope) => {
      shared = scope;
    },
    get: async () => {
      const modules = await Promise.all(["@lumino/widgets", "@jupyterlab/ui-components"].map(take));
      const plugin = { id: "NAME:plugin", autoStart: true, activate: (app) => activate(app, ...modules) };
      return () => ({ __esModule: true, default: plugin });
    },
  };
})();
