  kits.push((root) => { // one plot is large, and buttons or a click choose which
    const zoom = root.querySelector(".zoom");
    if (!zoom) return; // another explorer's
    const plots = [...zoom.children];
    const titles = plots.map((svg) => svg.querySelector("[data-title]").textContent);
    const enlarge = () => plots.forEach((svg, i) => svg.classList.toggle("large", i === at()));
    const { element, at } = buttons(zoom.dataset.name, titles, 0, enlarge);
    enlarge();
    element.className = "wide view"; // it chooses no frame
    root.querySelector(".controls").prepend(element);
    plots.forEach((svg, i) => svg.addEventListener("click", () => element.querySelectorAll("input")[i].click()));
  });
