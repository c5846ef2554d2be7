  const stepper = (control, name, last) => { // Back, Play and Next for a slider
    const element = document.createElement("div");
    element.className = "steps";
    element.setAttribute("role", "group");
    element.setAttribute("aria-label", name);
    const button = (text, act) => {
      const made = document.createElement("button");
      Object.assign(made, { type: "button", textContent: text });
      made.setAttribute("data-lm-suppress-shortcuts", "true");
      made.addEventListener("click", act);
      element.append(made);
      return made;
    };
    let timer = 0;
    const stop = () => {
      timer = clearInterval(timer);
      if (play) play.textContent = say("Play");
    };
    const go = (step) => control.set(Math.min(Math.max(control.at() + step, 0), last));
    const back = button(say("Back"), () => (stop(), go(-1)));
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches; // then no Play
    const play = !still && button(say("Play"), () => {
      if (timer) return stop();
      if (control.at() === last) control.set(0);
      play.textContent = say("Pause");
      timer = setInterval(() => {
        go(1);
        if (control.at() === last || !element.isConnected) stop();
      }, 700);
    });
    const next = button(say("Next"), () => (stop(), go(1)));
    control.element.querySelector("input").addEventListener("input", stop);
    const tell = control.tell;
    control.tell = () => {
      tell();
      back.setAttribute("aria-disabled", control.at() === 0);
      next.setAttribute("aria-disabled", control.at() === last);
    };
    control.element.after(element);
  };
  kits.push((root, controls, choices) => {
    if (!root.dataset.steps) return; // another explorer's
    const [at, last] = root.dataset.steps.split(" ").map(Number);
    stepper(controls[at], choices[at][0], last);
  });
