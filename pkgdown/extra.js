// The contents of a page, and the search: nothing here comes from another server, and both work from a file.
(() => {
  const make = (tag, text, attributes = {}) => {
    const node = Object.assign(document.createElement(tag), attributes);
    node.textContent = text;
    return node;
  };

  // Code and sentences are wrapped; what has columns keeps them, and is scrolled where the page is narrow.
  document.querySelectorAll("main pre code > span").forEach((line) => {
    if (!/\S {2,}\S/.test(line.textContent.replace(/^#>/, "").trim())) line.classList.add("words");
  });

  const contents = document.querySelector("#toc");
  if (contents) {
    const list = document.createElement("ul");
    let inner = null;
    const heads = "main h2[id], main h3[id], main .section[id] > h2, main .section[id] > h3";
    document.querySelectorAll(heads).forEach((head) => {
      if (contents.contains(head)) return;
      const item = document.createElement("li");
      const text = head.textContent.trim();
      item.append(make("a", text, { href: "#" + (head.id || head.parentElement.id) }));
      if (head.tagName === "H3" && inner) inner.append(item);
      else {
        list.append(item);
        inner = item.appendChild(document.createElement("ul"));
      }
    });
    if (list.children.length) contents.append(list);
    else contents.hidden = true;
  }

  const box = document.querySelector("#search-input");
  if (!box) return;
  const root = box.dataset.searchIndex.replace("search.json", "");
  const results = document.createElement("ul");
  results.id = "search-results";
  box.after(results);
  box.form.addEventListener("submit", (event) => event.preventDefault());

  const load = () => {
    if (document.querySelector("#search-index")) return;
    document.head.append(Object.assign(document.createElement("script"), {
      id: "search-index", src: root + "search-index.js", onload: search,
    }));
  };

  // Every word must occur; in a title it counts most. The page of that name comes first, then pages about that concept.
  const score = (entry, words) => {
    const asked = words.join(" ").replace(/-/g, " ");
    const name = entry.path.replace(/^.*\//, "").replace(".html", "").toLowerCase();
    const also = (entry.also || "").toLowerCase().replace(/-/g, " ");
    const head = entry.id ? 0 : 1;
    if (head && name === words.join(" ").replace("()", "")) return 1000;
    const concept = head && asked.length > 3 && also.includes(asked) ? 500 : 0;
    const found = words.reduce((sum, word) => {
      const at = (text, points) => (text && text.toLowerCase().includes(word) ? points : 0);
      const points = at(name, 30) + at(entry.title, 10) + at(entry.what, 5) + at(entry.text, 2) + at(entry.code, 1);
      return points ? sum + points + head : -Infinity;
    }, 0);
    return Math.max(found, 0) + concept;
  };

  function search() {
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    results.replaceChildren();
    if (!window.searchIndex || box.value.trim().length < 2) return;
    const found = window.searchIndex.map((entry) => [score(entry, words), entry]).filter(([points]) => points > 0);
    found.sort((a, b) => b[0] - a[0]);
    if (!found.length) results.append(make("li", "Nothing found", { className: "p-2" }));
    const shown = {}; // places of each page: its two best are enough
    const best = found.filter(([, entry]) => (shown[entry.path] = (shown[entry.path] || 0) + 1) <= 2);
    best.slice(0, 15).forEach(([, entry]) => {
      const link = make("a", entry.title, { href: root + entry.path + (entry.id ? "#" + entry.id : "") });
      if (entry.what) link.append(make("small", entry.what));
      const item = document.createElement("li");
      item.append(link);
      results.append(item);
    });
  }

  box.addEventListener("focus", load);
  box.addEventListener("input", () => {
    load();
    search();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") results.replaceChildren();
    if (event.key === "/" && document.activeElement.tagName !== "INPUT") {
      event.preventDefault();
      box.focus();
    }
  });
})();
