// Figures speak: what stands in the <title> of a mark is shown beside it, by pointer, touch or arrow keys.
(() => {
  "use strict";
  const tip = document.createElement("div");
  tip.className = "tip";
  tip.hidden = true;
  tip.setAttribute("role", "status");
  document.body.append(tip);
  let shown = null;

  const hide = () => {
    if (shown) shown.classList.remove("at");
    shown = null;
    tip.hidden = true;
  };

  const show = (mark) => {
    if (mark === shown) return;
    hide();
    shown = mark;
    mark.classList.add("at");
    tip.textContent = mark.dataset.tip;
    tip.hidden = false;
    const box = mark.getBoundingClientRect();
    const left = box.left + box.width / 2 - tip.offsetWidth / 2;
    const most = document.documentElement.clientWidth - tip.offsetWidth - 8;
    const above = box.top - tip.offsetHeight - 10;
    const top = above < 8 ? Math.min(box.bottom + 10, window.innerHeight - tip.offsetHeight - 8) : above;
    tip.style.left = `${window.scrollX + Math.max(8, Math.min(left, most))}px`;
    tip.style.top = `${window.scrollY + top}px`;
  };

  const speaking = (event) => event.target.closest && event.target.closest("[data-tip]");

  for (const figure of document.querySelectorAll("svg.figure")) {
    const marks = [...figure.querySelectorAll("title")].map((title) => {
      const mark = title.parentNode;
      mark.dataset.tip = title.textContent;
      title.remove();
      return mark;
    });
    if (!marks.length) continue;
    figure.tabIndex = 0;
    figure.setAttribute("aria-description", "The arrow keys go from mark to mark.");
    let place = -1;
    const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
    figure.addEventListener("keydown", (event) => {
      if (event.key === "Escape") return hide();
      if (!(event.key in steps)) return;
      event.preventDefault();
      place = (Math.max(place, steps[event.key] > 0 ? -1 : 0) + steps[event.key] + marks.length) % marks.length;
      show(marks[place]);
    });
    figure.addEventListener("blur", hide);
    for (const kind of ["pointermove", "pointerdown"]) {
      figure.addEventListener(kind, (event) => {
        const mark = speaking(event);
        if (mark) show(mark);
        else hide();
      });
    }
    figure.addEventListener("pointerleave", hide);
  }
})();
