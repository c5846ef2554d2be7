  // What explorers and trained models in a page share: the softmax, controls.
  const softmax = (scores) => {
    const best = Math.max(...scores);
    const e = scores.map((score) => Math.exp(score - best));
    const sum = e.reduce((a, b) => a + b);
    return e.map((v) => v / sum);
  };
  const field = (name, className, ...inputs) => make("label", { className }, make("span", { textContent: name }), ...inputs);
  const widest = (texts) => `${Math.max(0, ...texts.map((text) => text.length))}ch`;
  const slider = (name, labels, value, oninput) => {
    const input = make("input", { type: "range", max: labels.length - 1, value, oninput });
    const output = make("output"), at = () => Number(input.value);
    const element = field(name, labels.some((label) => label.length > 9) ? "wide" : "", input, output);
    element.style.setProperty("--value", widest(labels)); // as wide at any value
    const tell = (label = labels[at()]) => {
      output.textContent = label;
      input.ariaValueText = label;
    };
    const set = (i) => i !== at() && ((input.value = i), oninput());
    return { element, input, at, set, tell };
  };
