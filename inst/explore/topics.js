/* The page of explore() of topics: components on a plane, the taxa and the sites of the one that is picked. All text from
 * the data is set as text, never as HTML; nothing is fetched. */
"use strict";
(function () {
  const data = JSON.parse(document.getElementById("data").textContent);
  const k = data.names.length;
  const byId = id => document.getElementById(id);
  const make = (name, attributes, text) => {
    const node = ["circle", "text", "title"].includes(name)
      ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
    for (const key in attributes || {}) node.setAttribute(key, attributes[key]);
    if (text !== undefined) node.textContent = text;
    return node;
  };
  const state = { component: data.share.indexOf(Math.max.apply(null, data.share)), term: -1, weight: 0.6 };
  const percent = share => (100 * share).toFixed(share < 0.1 ? 1 : 0) + " %";
  const number = value => value >= 10 || Number.isInteger(value) ? Math.round(value).toLocaleString("en").replace(/,/g, "\u00a0") : value.toFixed(1);

  /* Sievert and Shirley (2014), eq. (1): the first of those that the component writes at all. */
  function relevant(c) {
    const relevance = j => state.weight * data.log_share[c][j] + (1 - state.weight) * data.log_lift[c][j];
    return data.tops[c].map(j => [relevance(j), data.log_share[c][j], j])
      .sort((a, b) => b[0] - a[0] || b[1] - a[1]).slice(0, data.n).map(each => each[2]);
  }
  /* Of a taxon: how much of it each component has written. */
  function shares_of(term) {
    const total = data.written.reduce((sum, row) => sum + row[term], 0);
    return data.written.map(row => row[term] / Math.max(total, 1e-300));
  }

  /* The plane has one scale for both axes, so that distances are what they are. */
  const side = 480, margin = 70;
  const ends = values => [Math.min.apply(null, values), Math.max.apply(null, values)];
  const wide = Math.max(ends(data.x)[1] - ends(data.x)[0], ends(data.y)[1] - ends(data.y)[0]) || 1;
  const along = values => {
    const middle = (ends(values)[0] + ends(values)[1]) / 2;
    return at => side / 2 + (values[at] - middle) / wide * (side - 2 * margin);
  };
  const x_at = along(data.x), y_at = along(data.y);
  function plane() {
    const svg = byId("plane"), shares = state.term < 0 ? data.share : shares_of(state.term);
    const focused = document.activeElement && document.activeElement.getAttribute("data-at");
    svg.replaceChildren();
    const radius = share => Math.max(3, 60 * Math.sqrt(share / Math.max(1, 6 / k)));
    data.names.map((name, c) => c).sort((a, b) => shares[b] - shares[a]).forEach(c => {
      const chosen = c === state.component;
      const disc = make("circle", {
        cx: x_at(c).toFixed(1), cy: y_at(c).toFixed(1), r: radius(shares[c]).toFixed(1), class: "mark", tabindex: 0, role: "button",
        "aria-pressed": chosen, "aria-label": data.names[c] + ", " + percent(shares[c]), "data-at": c,
        fill: chosen ? "#0b3060" : "#9db4cc", "fill-opacity": 0.75, stroke: "#333"
      });
      disc.append(make("title", {}, data.names[c] + ": " + percent(shares[c])));
      disc.addEventListener("click", () => pick(c));
      disc.addEventListener("keydown", event => {
        if (event.key === "Enter" || event.key === " ") { event.preventDefault(); pick(c); }
      });
      svg.append(disc);
    });
    data.names.forEach((name, c) => svg.append(make("text", {
      x: x_at(c).toFixed(1), y: (y_at(c) + 4).toFixed(1), "text-anchor": "middle", "font-size": 12, "font-weight": 600,
      "pointer-events": "none", fill: c === state.component && radius(shares[c]) > 14 ? "#fff" : "#111"
    }, name)));
    if (focused !== null && focused !== undefined) {
      const again = svg.querySelector("[data-at='" + focused + "']");
      if (again) again.focus();
    }
  }

  function terms() {
    const shown = relevant(state.component), longest = Math.max.apply(null, shown.map(j => Math.max(data.count[j], data.written[state.component][j])));
    byId("rows").replaceChildren();
    shown.forEach(j => {
      const row = make("tr", { tabindex: 0, "aria-selected": j === state.term });
      const cell = make("td", {}), total = Math.max(data.count[j], data.written[state.component][j], 1e-9);
      const bar = make("div", { class: "bar", style: "width:" + (100 * total / longest).toFixed(2) + "%" });
      bar.append(make("i", { style: "width:" + (100 * data.written[state.component][j] / total).toFixed(2) + "%" }));
      cell.append(bar);
      row.append(make("td", {}, data.terms[j]), cell, make("td", { class: "number" }, number(data.written[state.component][j]) + " of " + number(data.count[j])));
      const choose = () => { state.term = state.term === j ? -1 : j; draw(); };
      row.addEventListener("click", choose);
      row.addEventListener("keydown", event => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        const at = Array.from(byId("rows").children).indexOf(row);
        choose();
        byId("rows").children[at].focus();
      });
      byId("rows").append(row);
    });
  }

  function sites() {
    const of = data.sites[state.component];
    byId("sites").replaceChildren();
    of.names.forEach((name, i) => {
      const row = make("tr");
      row.append(make("td", {}, name), make("td", { class: "number" }, percent(of.share[i])), make("td", { class: "number" }, number(of.written[i])));
      byId("sites").append(row);
    });
  }

  function says() {
    const c = state.component, name = data.names[c];
    byId("weight-said").textContent = state.weight.toFixed(2);
    byId("component").value = String(c);
    byId("terms-title").textContent = "Most relevant " + data.words[1] + " of " + name + ", " + percent(data.share[c]) + " of all counts";
    byId("sites-title").textContent = "The " + data.words[0] + " that " + name + " writes most of";
    byId("says").textContent = state.term < 0 ? name + ": " + relevant(c).slice(0, 5).map(j => data.terms[j]).join(", ") + "." :
      data.terms[state.term] + ", " + number(data.count[state.term]) + " in the whole table: " +
      shares_of(state.term).map((share, at) => [share, at]).sort((a, b) => b[0] - a[0]).slice(0, 5).filter(each => each[0] >= 0.005)
        .map(each => data.names[each[1]] + " " + percent(each[0])).join(", ") + ".";
  }
  function draw() { plane(); terms(); sites(); says(); }
  function pick(component) { state.component = component; draw(); }

  document.title = data.title;
  byId("title").textContent = data.title;
  byId("answer").textContent = k + (k === 1 ? " component" : " components") + " of " + data.words[0] + " by " + data.words[1] + ".";
  byId("site-head").textContent = data.words[0];
  data.names.forEach((name, c) => byId("component").append(make("option", { value: String(c) }, name)));
  byId("component").addEventListener("change", event => pick(Number(event.target.value)));
  byId("weight").addEventListener("input", event => { state.weight = Number(event.target.value) / 100; draw(); });
  byId("clear").addEventListener("click", () => { state.term = -1; draw(); });
  draw();
  window.explorer = { state: state, relevant: relevant, pick: pick };
})();
