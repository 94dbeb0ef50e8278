// The list of builds is asked for again while somebody looks at it; what is chosen stays chosen.
"use strict";
(() => {
  document.querySelectorAll(".scroll.wide").forEach((frame) => frame.classList.toggle("overflows", frame.scrollWidth > frame.clientWidth + 1));
  const place = document.getElementById("builds");
  if (!place) return;
  const EVERY = 2000;
  let shown = place.innerHTML;
  const chosen = () => new Set([...place.querySelectorAll("input:checked")].map((box) => box.value));
  const refresh = async () => {
    if (document.hidden) return;
    let text;
    try {
      const answer = await fetch("/builds");
      if (!answer.ok) return;
      text = await answer.text();
    } catch {
      return;
    }
    const found = new DOMParser().parseFromString(text, "text/html").body;
    if (found.innerHTML === shown) return;
    shown = found.innerHTML;
    const kept = chosen(), focused = document.activeElement?.value, pressed = document.activeElement?.type === "submit";
    place.replaceChildren(...found.childNodes);
    if (pressed) place.querySelector("button")?.focus();
    place.querySelectorAll("input").forEach((box) => {
      box.checked = kept.has(box.value);
      if (focused && box.value === focused) box.focus();
    });
  };
  setInterval(refresh, EVERY);
})();
