  // What all that moves in a page shares: elements, words.
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const make = (tag, properties, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };
  const button = (textContent, onclick) => make("button", { type: "button", textContent, onclick });
  const start = (widgets, set) => { // each once; a viewer may have removed the data of one
    for (const root of document.querySelectorAll(`${widgets}:not([data-live])`)) {
      root.dataset.live = "";
      root.addEventListener("focusin", ({ target }) => target.setAttribute("data-lm-suppress-shortcuts", "true")); // JupyterLab: keys are mine
      const read = (name) => JSON.parse(root.dataset[name] ?? "null");
      const words = read("words");
      const say = (message, fields) => words[message].replace(/\{(\w+)\}/g, (_, name) => fields[name]);
      set(root, read, say);
    }
  };
