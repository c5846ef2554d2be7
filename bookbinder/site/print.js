// Waits for pictures and fonts; then what is too wide is made smaller: on paper nothing can be moved.
async () => {
  await Promise.all([...document.images].map((image) => Object.assign(image, { loading: "eager" }).decode().catch(() => {})));
  await document.fonts.ready;
  for (const box of document.querySelectorAll(".d2l-explorer .parts, table.table, pre"))
    for (let turn = 0; turn < 3; turn++) {
      const room = (box.matches("table") ? box.parentElement : box).clientWidth;
      if (box.scrollWidth <= room) break;
      box.style.zoom = (box.style.zoom || 1) * (room / box.scrollWidth) * 0.995;
    }
}
