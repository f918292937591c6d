/// <reference lib="dom" />
/**
 * A button beside each piece of code, which copies it.
 *
 * @module
 */

for (const code of document.querySelectorAll<HTMLElement>("main pre")) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(code.innerText.trimEnd());
    button.textContent = "Copied";
    setTimeout(() => button.textContent = "Copy", 2000);
  });
  const place = document.createElement("div");
  place.className = "copied";
  code.replaceWith(place);
  place.append(code, button);
}
