/* The page of explore(): one table of probabilities, seen as cells, as a list, in time and on a map. All text from the data is
 * set as text, never as HTML; nothing is fetched. */
"use strict";
(function () {
  const data = JSON.parse(document.getElementById("data").textContent);
  const n = data.sites.length, m = data.taxa.length;
  const byId = id => document.getElementById(id);
  const make = (name, attributes, text) => {
    const node = ["circle", "path", "line", "text", "title"].includes(name)
      ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
    for (const key in attributes || {}) node.setAttribute(key, attributes[key]);
    if (text !== undefined) node.textContent = text;
    return node;
  };
  const FOUND = -1; /* in data.probability, cells of 1 / 10000; -2: unknown, or left out */
  const start = { site: -1, taxon: -1, component: -1, total: null, threshold: 0.5, search: "", sort: "probability", down: true };
  const state = Object.assign({}, start);
  const most = 200; /* rows of the list that are shown at once; all are downloaded */

  /* The zero with log-odds e of a record is a false absence with log-odds slope e + r: r of the table, of its site or of
   * its taxon (side 0, 1, 2), as missed_numbers() and log_ratio_of() of the package. Another total than the estimate
   * adds one number, the shift, to all of these log-odds and to those of the ends of their intervals. */
  const logistic = e => 1 / (1 + Math.exp(-e));
  const logit = p => Math.log(p / (1 - p));
  const log_odds = at => data.slope * logit(Math.max(data.probability[at], 0.5) / 10000) + (data.offset ? data.offset[at] : 0);
  const own_ratio = at => data.ratio[data.side === 0 ? 0 : data.side === 1 ? Math.floor(at / m) : at % m];
  function shift_of(total) {
    let low = -80, high = 80;
    const sure = cells.filter(at => is_gap.has(at)).length, others = cells.filter(at => !is_gap.has(at));
    for (let step = 0; step < 50; step++) {
      const middle = (low + high) / 2;
      let sum = sure;
      for (const at of others) sum += logistic(log_odds(at) + own_ratio(at) + middle);
      if (sum < total) low = middle; else high = middle;
    }
    return (low + high) / 2;
  }
  /* The slider goes from nothing to above the interval; its first place is the estimate. */
  const steps = 1000;
  let estimate = 0;
  const top = () => Math.min(0.95 * cells.length, Math.max(1, data.total ? 1.25 * data.total[2] : 0.5 * cells.length));
  const slider_at = total => Math.round(steps * Math.min(1, total / top()));

  /* The probability of a false absence and the ends of its interval, these in 1 / 10000. Those of the result come with the
   * page. A fit has no interval. */
  const values = new Float64Array(n * m), lows = new Float64Array(n * m), highs = new Float64Array(n * m), cells = [];
  const is_gap = new Set(data.gaps || []);
  values.fill(NaN);
  for (let at = 0; at < n * m; at++) if (data.probability[at] >= 0) cells.push(at);
  function compute() {
    const shift = state.total === null ? 0 : shift_of(state.total);
    const moved = end => shift === 0 ? end : 10000 * logistic(logit(Math.min(9999.5, Math.max(0.5, end)) / 10000) + shift);
    for (const at of cells) {
      values[at] = is_gap.has(at) ? 1 : logistic(log_odds(at) + own_ratio(at) + shift);
      lows[at] = !data.low ? 10000 * values[at] : is_gap.has(at) ? data.low[at] : moved(data.low[at]);
      highs[at] = !data.low ? 10000 * values[at] : is_gap.has(at) ? data.high[at] : moved(data.high[at]);
    }
    if (state.total === null) estimate = cells.reduce((sum, at) => sum + values[at], 0);
  }
  /* As states_of() of the package: missed where the whole range is above the threshold, undecided where it holds it. */
  function state_of(at) {
    const threshold = Math.round(10000 * state.threshold);
    return lows[at] > threshold ? "missed" : highs[at] > threshold ? "undecided" : "absent";
  }
  /* Counts as the package writes them: two digits below 100, else three; 3 420, never 3.42e+3. */
  const grouped = value => String(value).replace(/\B(?=(\d{3})+$)/g, "\u00a0");
  function big(value) {
    const rounded = Number(value.toPrecision(value < 100 ? 2 : 3));
    return rounded >= 100 ? grouped(rounded) : rounded < 1e-6 ? "0" : String(rounded);
  }

  /* What is shown: the selection, the component's sites and taxa, and the search. */
  let member = null;
  function picked(i, j) {
    if (state.site >= 0 && i !== state.site) return false;
    if (state.taxon >= 0 && j !== state.taxon) return false;
    if (member && !(member.sites.has(i) && member.taxa.has(j))) return false;
    return true;
  }
  const key = { site: at => data.sites[Math.floor(at / m)], taxon: at => data.taxa[at % m],
    probability: at => data.probability[at], missed: at => values[at], age: at => data.age ? data.age[Math.floor(at / m)] : 0 };
  let shown = [];
  function filter() {
    const words = state.search.toLowerCase();
    shown = cells.filter(at => {
      const i = Math.floor(at / m), j = at % m;
      if (!picked(i, j)) return false;
      return !words || data.sites[i].toLowerCase().includes(words) || data.taxa[j].toLowerCase().includes(words);
    });
    const of = key[state.sort], sign = state.down ? -1 : 1;
    shown.sort((a, b) => {
      const x = of(a), y = of(b);
      const way = typeof x === "string" ? x.localeCompare(y) : (x === null) - (y === null) || x - y;
      return sign * way || a - b;
    });
  }
  const columns = ["site", "taxon", "probability", "missed"].concat(data.age ? ["age"] : []);
  const interval = at => (lows[at] / 10000).toFixed(2) + " to " + (highs[at] / 10000).toFixed(2);
  const heads = { site: data.words[0], taxon: data.words[1], probability: "probability", age: data.unit,
    missed: data.low ? "missed (90 % interval)" : "missed" };
  const cell = (at, column) => {
    const value = key[column](at);
    if (column === "probability") return (value / 10000).toFixed(2);
    if (column === "missed") return value.toFixed(2) + (data.low ? " (" + interval(at) + ")" : "");
    if (value === null) return "";
    return column === "age" ? String(Number(value.toPrecision(4))) : String(value);
  };
  function list() {
    const body = byId("rows");
    body.textContent = "";
    shown.slice(0, most).forEach(at => {
      const row = make("tr", { tabindex: "0", "aria-selected": String(at === state.site * m + state.taxon && state.site >= 0) });
      columns.forEach(column => row.append(make("td", ["site", "taxon"].includes(column) || data.low && column === "missed" ? {} : { "class": "number" }, cell(at, column))));
      const go = () => select(Math.floor(at / m), at % m);
      row.addEventListener("click", go);
      row.addEventListener("keydown", event => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        go();
        const now = document.querySelector("#rows [aria-selected='true']"); /* the rows were made anew */
        if (now) now.focus();
      });
      body.append(row);
    });
    byId("count").textContent = grouped(shown.length) + " zeros" + (shown.length > most ? ", the first " + most + " in the list" : "");
    Array.from(byId("heads").children).forEach((head, at) => {
      head.setAttribute("aria-sort", columns[at] === state.sort ? (state.down ? "descending" : "ascending") : "none");
      head.firstChild.textContent = heads[columns[at]] + (columns[at] === state.sort ? (state.down ? " \u25bc" : " \u25b2") : "");
    });
  }

  /* Text that a spreadsheet takes for a formula gets an apostrophe, as in the package's own files. */
  function csv() {
    const quote = text => {
      if (/^([\t\r\n]|\s*[-=+@\uff0d\uff1d\uff0b\uff20])/.test(text) && !/^\s*[-+]?[0-9.]+$/.test(text)) text = "'" + text;
      return "\"" + text.replace(/"/g, "\"\"") + "\"";
    };
    const fields = [["site", at => quote(key.site(at))], ["taxon", at => quote(key.taxon(at))],
      ["probability", at => (data.probability[at] / 10000).toFixed(3)], ["missed", at => values[at].toFixed(3)]]
      .concat(data.low ? [["missed_low", at => (lows[at] / 10000).toFixed(3)], ["missed_high", at => (highs[at] / 10000).toFixed(3)]] : [],
        data.age ? [["age", at => cell(at, "age")]] : []);
    const lines = [fields.map(field => quote(field[0] === "missed" ? "missed" : heads[field[0]] || field[0])).join(",")];
    shown.forEach(at => lines.push(fields.map(field => field[1](at)).join(",")));
    return lines.join("\r\n") + "\r\n";
  }

  /* The heat map: sites down, taxa across, in the order of data.rows and data.columns. */
  const canvas = byId("heat");
  const size = Math.max(2, Math.min(14, Math.floor(900 / m)));
  const high = Math.max(2, Math.min(size, Math.floor(1400 / n)));
  canvas.width = m * size;
  canvas.height = n * high;
  /* As wide as its column; rows of many sites stay low, so that the map of a long table does not fill ten screens. */
  canvas.style.height = Math.round(n * Math.max(2, Math.min(14, 900 / n))) + "px";
  const place = { row: new Array(n), column: new Array(m) };
  data.rows.forEach((i, at) => { place.row[i] = at; });
  data.columns.forEach((j, at) => { place.column[j] = at; });
  const colours = data.colours; /* of found, missed, undecided, absent, unknown */
  function colour(at) {
    const raw = data.probability[at];
    if (raw === FOUND) return colours.found;
    if (raw < 0) return colours.unknown;
    return colours[state_of(at)];
  }
  function heat() {
    const pen = canvas.getContext("2d");
    for (let i = 0; i < n; i++) for (let j = 0; j < m; j++) {
      pen.globalAlpha = picked(i, j) ? 1 : 0.25;
      pen.fillStyle = colour(i * m + j);
      pen.clearRect(place.column[j] * size, place.row[i] * high, size, high);
      pen.fillRect(place.column[j] * size, place.row[i] * high, size, high);
    }
    pen.globalAlpha = 1;
    pen.strokeStyle = "#000";
    pen.lineWidth = 2;
    if (state.site >= 0) pen.strokeRect(0, place.row[state.site] * high, m * size, high);
    if (state.taxon >= 0) pen.strokeRect(place.column[state.taxon] * size, 0, size, n * high);
  }
  function under(event) {
    const box = canvas.getBoundingClientRect();
    const across = Math.floor((event.clientX - box.left) / box.width * m);
    const down = Math.floor((event.clientY - box.top) / box.height * n);
    return [data.rows[Math.min(n - 1, Math.max(0, down))], data.columns[Math.min(m - 1, Math.max(0, across))]];
  }
  canvas.addEventListener("click", event => select(...under(event)));
  function cell_words(site, taxon) {
    const at = site * m + taxon, raw = data.probability[at];
    return data.taxa[taxon] + " at " + data.sites[site] + ": " + (raw === FOUND ? "found" : raw < 0 ? "unknown, or left out" :
      "false absence with probability " + cell(at, "missed") +
      "; of a record " + (raw / 10000).toFixed(2));
  }
  const hover = byId("hover");
  canvas.addEventListener("mousemove", event => {
    hover.textContent = cell_words(...under(event));
    hover.hidden = false;
    hover.style.left = Math.max(0, Math.min(event.clientX + 12, window.innerWidth - hover.offsetWidth - 4)) + "px";
    hover.style.top = event.clientY + 16 + "px";
  });
  canvas.addEventListener("mouseleave", () => { hover.hidden = true; });
  canvas.addEventListener("keydown", event => {
    if (event.key === "Escape") select(-1, -1);
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!step) return;
    event.preventDefault();
    const row = state.site < 0 ? 0 : place.row[state.site] + step[0], column = state.taxon < 0 ? 0 : place.column[state.taxon] + step[1];
    select(data.rows[Math.min(n - 1, Math.max(0, row))], data.columns[Math.min(m - 1, Math.max(0, column))]);
  });

  /* Of each site: what was found and what is expected to have been missed, of the taxon picked or of all. */
  function sums(i) {
    let found = 0, lost = 0;
    for (let j = 0; j < m; j++) if (state.taxon < 0 ? !member || member.taxa.has(j) : j === state.taxon) {
      if (data.probability[i * m + j] === FOUND) found++;
      else if (!Number.isNaN(values[i * m + j])) lost += values[i * m + j];
    }
    return { found: found, lost: lost };
  }
  function mark(svg, i, x, y, r, of) {
    const on = state.site === i, in_group = !member || member.sites.has(i);
    const dot = make("circle", { "class": "mark", cx: x, cy: y, r: Math.max(r, 1.5), fill: of.found ? colours.found : "#fff",
      "fill-opacity": of.found ? 0.75 : 0, stroke: on ? "#000" : of.found ? colours.found : colours.missed, "stroke-width": on ? 3.5 : 1.5,
      opacity: in_group ? 1 : 0.2 });
    dot.append(make("title", {}, data.sites[i] + ": " + of.found + " found, about " + big(of.lost) + " undetected"));
    dot.addEventListener("click", () => select(i, state.taxon));
    svg.append(dot);
  }
  function label(svg, x, y, text, anchor) { svg.append(make("text", { x: x, y: y, "font-size": 13, "text-anchor": anchor || "middle", fill: "#333" }, text)); }
  function time(all) {
    if (!data.age) return;
    const svg = byId("time");
    svg.textContent = "";
    const known = data.age.filter(age => age !== null);
    const most = Math.max.apply(null, known), least = Math.min.apply(null, known);
    const old = data.forward ? least : most, young = data.forward ? most : least, span = old - young || 1;
    const top = Math.max(1, Math.max.apply(null, all.map(of => of.found + of.lost)));
    const x = age => 50 + (old - age) / span * 570, y = value => 260 - value / top * 235;
    svg.append(make("line", { x1: 50, x2: 620, y1: 260, y2: 260, stroke: "#333" }));
    for (let at = 0; at <= 4; at++) {
      const end = at === 4; // the last one would run off the page on a telephone
      label(svg, end ? 638 : x(old - at / 4 * span), 278, String(Number((old - at / 4 * span).toPrecision(4))), end && "end");
    }
    label(svg, 335, 296, data.unit);
    label(svg, 44, 264, "0", "end");
    label(svg, 44, 32, big(top), "end");
    all.forEach((of, i) => {
      if (data.age[i] === null) return;
      const at = x(data.age[i]);
      svg.append(make("line", { x1: at, x2: at, y1: y(of.found), y2: y(of.found + of.lost), stroke: colours.missed, "stroke-width": 1.5, opacity: 0.7 }));
      mark(svg, i, at, y(of.found + (of.found ? 0 : of.lost)), 4, of);
    });
  }
  function map(all) {
    if (!data.lon) return;
    const svg = byId("map");
    svg.textContent = "";
    const known = data.lon.map((lon, i) => i).filter(i => data.lon[i] !== null);
    const range = values => [Math.min.apply(null, values), Math.max.apply(null, values)];
    let east = range(known.map(i => data.lon[i])), north = range(known.map(i => data.lat[i]));
    const ratio = data.plane ? 1 : Math.max(0.05, Math.cos((north[0] + north[1]) / 2 * Math.PI / 180));
    const half = Math.max((east[1] - east[0]) * ratio / 640, (north[1] - north[0]) / 400, 0.005) * 1.12 / 2;
    const middle = [(east[0] + east[1]) / 2, (north[0] + north[1]) / 2];
    const x = lon => 320 + (lon - middle[0]) * ratio / half / 2, y = lat => 200 - (lat - middle[1]) / half / 2;
    let line = "";
    (data.coast || []).forEach(part => part.forEach((at, k) => { line += (k ? "L" : "M") + x(at[0]).toFixed(1) + " " + y(at[1]).toFixed(1); }));
    svg.append(make("path", { d: line, fill: "none", stroke: "#999", "stroke-width": 0.8 }));
    const top = Math.max(1e-9, Math.max.apply(null, all.map(of => of.found + of.lost)));
    known.forEach(i => mark(svg, i, x(data.lon[i]), y(data.lat[i]), 11 * Math.sqrt((all[i].found + all[i].lost) / top), all[i]));
  }

  /* Whether a site is as old as some presence of a taxon, or between two of them. */
  function known_ages(site, taxon) {
    if (!data.age || data.age[site] === null) return "";
    const ages = data.age.filter((age, i) => age !== null && data.probability[i * m + taxon] === FOUND);
    if (!ages.length) return "";
    const low = Math.min.apply(null, ages), high = Math.max.apply(null, ages), age = data.age[site];
    return " Its age, " + age + ", is " + (age >= low && age <= high ? "within" : "outside") + " those of the presences, " + low + " to " + high + ".";
  }

  function says() {
    let total = 0;
    const number = { missed: 0, undecided: 0, absent: 0 };
    cells.forEach(at => { total += values[at]; number[state_of(at)]++; });
    const answer = data.said && state.total === null ? data.said :
      n + " " + data.words[0] + " x " + m + " " + data.words[1] + ", " + grouped(cells.length) + " zeros. Undetected presences expected: " + big(total) +
      ", " + (state.total === null ? data.assumption : "as the slider has it") + ".";
    byId("answer").textContent = answer + (data.low ? " Zeros whose whole 90 % interval is above " : " Zeros with a probability above ") +
      state.threshold.toFixed(2) + ": " + grouped(number.missed) + (data.low ? "; undecided: " + grouped(number.undecided) + "." : ".");
    byId("quality").textContent = data.quality || "";
    let text = "All " + data.words[0] + " and " + data.words[1] + ".";
    if (state.site >= 0 && state.taxon >= 0) {
      const at = state.site * m + state.taxon;
      text = cell_words(state.site, state.taxon) + "." + (data.probability[at] >= 0 ? known_ages(state.site, state.taxon) : "");
    } else if (state.site >= 0 || state.taxon >= 0) {
      const name = state.site >= 0 ? data.sites[state.site] : data.taxa[state.taxon];
      let found = 0, lost = 0;
      for (let i = 0; i < n; i++) for (let j = 0; j < m; j++) if ((state.site < 0 || i === state.site) && (state.taxon < 0 || j === state.taxon)) {
        if (data.probability[i * m + j] === FOUND) found++; else lost += values[i * m + j] || 0;
      }
      text = name + ": " + found + " found, about " + big(lost) + " undetected.";
    }
    if (member) text += " Component " + data.components[state.component].name + ": " + data.components[state.component].top.map(j => data.taxa[j]).join(", ") + ".";
    byId("says").textContent = text;
  }

  /* The state is in the address, after #, so that what is shown can be kept and sent. */
  function keep_state() {
    const part = Object.keys(start).filter(name => state[name] !== start[name])
      .map(name => name + "=" + encodeURIComponent(typeof state[name] === "number" ? Number(state[name].toPrecision(6)) : state[name]));
    try { history.replaceState(null, "", part.length ? "#" + part.join("&") : location.pathname + location.search); } catch (e) { /* in a frame */ }
  }
  function read_state() {
    Object.assign(state, start);
    location.hash.slice(1).split("&").forEach(part => {
      const at = part.indexOf("="), name = part.slice(0, at);
      let text = "";
      try { text = decodeURIComponent(part.slice(at + 1)); } catch (e) { return; }
      const number = Number(text), whole = Number.isInteger(number);
      if (name === "site" && whole && number < n || name === "taxon" && whole && number < m) state[name] = Math.max(-1, number);
      if (name === "component" && whole && data.components && number < data.components.length) state.component = Math.max(-1, number);
      if (name === "total" && number >= 0 && number <= top()) state.total = number;
      if (name === "threshold" && number >= 0 && number <= 1) state.threshold = number;
      if (name === "search") state.search = text;
      if (name === "sort" && columns.includes(text)) state.sort = text;
      if (name === "down") state.down = text === "true";
    });
    const one = data.components && data.components[state.component];
    member = one ? { sites: new Set(one.sites), taxa: new Set(one.top) } : null;
    byId("component").value = String(state.component);
    byId("search").value = state.search;
  }
  /* One draw a frame, however many events a slider sends. */
  let waiting = 0, stale = false;
  function later(numbers) {
    stale = stale || numbers;
    if (!waiting) waiting = requestAnimationFrame(flush);
  }
  function flush() {
    if (waiting) cancelAnimationFrame(waiting);
    waiting = 0;
    if (stale) compute();
    stale = false;
    draw();
  }

  function draw() {
    keep_state();
    told();
    filter();
    list();
    heat();
    const all = data.sites.map((site, i) => sums(i));
    time(all);
    map(all);
    says();
    byId("site").value = String(state.site);
    byId("taxon").value = String(state.taxon);
  }
  function select(site, taxon) { state.site = site; state.taxon = taxon; draw(); }

  function choices(select, names, none) {
    select.append(make("option", { value: "-1" }, none));
    names.map((name, at) => [name, at]).sort((a, b) => a[0].localeCompare(b[0])).forEach(each => {
      select.append(make("option", { value: String(each[1]) }, each[0]));
    });
  }
  document.title = data.title;
  byId("title").textContent = data.title;
  byId("site-label").textContent = data.words[0];
  byId("taxon-label").textContent = data.words[1];
  byId("heat-title").textContent = data.words[0] + " (down) by " + data.words[1] + " (across)";
  canvas.setAttribute("aria-label", "Heat map of " + data.words[0] + " by " + data.words[1] + ": found, probably missed, undecided, probably not missed");
  [["found", colours.found], ["probably missed", colours.missed], ["undecided", colours.undecided], ["probably not missed", colours.absent]]
    .filter(each => data.low || each[0] !== "undecided").forEach(each => {
      const item = make("span");
      item.append(make("i", { style: "background:" + each[1] }), each[0]);
      byId("key").append(item);
    });
  choices(byId("site"), data.sites, "all");
  choices(byId("taxon"), data.taxa, "all");
  byId("component-box").hidden = !data.components;
  if (data.components) choices(byId("component"), data.components.map(each => each.name), "all");
  byId("time-view").hidden = !data.age;
  byId("map-view").hidden = !data.lon;
  byId("coast").textContent = data.coast_words || "";
  byId("time-title").textContent = data.words[1] + " at each of the " + data.words[0] + ", through time";
  byId("map-title").textContent = data.words[0] + " on the map";
  /* The keys of the marks. */
  const mark_key = (id, parts) => parts.forEach(part => {
    const item = make("span"), svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("viewBox", "0 0 16 16");
    svg.append(part[0]);
    item.append(svg, part[1]);
    byId(id).append(item);
  });
  const full = () => make("circle", { cx: 8, cy: 8, r: 5, fill: colours.found, "fill-opacity": 0.75, stroke: colours.found });
  const open = () => make("circle", { cx: 8, cy: 8, r: 5, fill: "none", stroke: colours.missed, "stroke-width": 1.5 });
  mark_key("time-key", [[full(), "number found"], [open(), "none found: number expected undetected"],
    [make("line", { x1: 8, x2: 8, y1: 1, y2: 15, stroke: colours.missed, "stroke-width": 1.5 }), "expected undetected, above those found"]]);
  mark_key("map-key", [[full(), "some found"], [open(), "none found"]]);
  byId("map-key").append(make("span", {}, "area: found and expected undetected"));
  byId("time").setAttribute("aria-label", "What was found and missed at each of the " + data.words[0] + ", against age");
  byId("map").setAttribute("aria-label", "Where the " + data.words[0] + " are, and what was found and missed there");
  columns.forEach(column => {
    const head = make("th", { scope: "col" }), button = make("button", { type: "button" }, heads[column]);
    button.addEventListener("click", () => {
      state.down = state.sort === column ? !state.down : !["site", "taxon"].includes(column);
      state.sort = column;
      draw();
    });
    head.append(button);
    byId("heads").append(head);
  });
  byId("site").addEventListener("change", event => select(Number(event.target.value), state.taxon));
  byId("taxon").addEventListener("change", event => select(state.site, Number(event.target.value)));
  byId("component").addEventListener("change", event => {
    state.component = Number(event.target.value);
    const one = data.components[state.component];
    member = one ? { sites: new Set(one.sites), taxa: new Set(one.top) } : null;
    draw();
  });
  byId("total").addEventListener("input", event => {
    const at = Number(event.target.value);
    state.total = at === slider_at(estimate) ? null : top() * at / steps;
    later(true);
  });
  byId("threshold").addEventListener("input", event => { state.threshold = Number(event.target.value) / 100; later(false); });
  byId("search").addEventListener("input", event => { state.search = event.target.value; later(false); });
  byId("reset").addEventListener("click", () => {
    history.replaceState(null, "", location.pathname + location.search);
    read_state();
    compute();
    draw();
  });
  window.addEventListener("hashchange", () => { read_state(); compute(); draw(); });
  byId("clear").addEventListener("click", () => {
    byId("component").value = "-1";
    byId("search").value = "";
    member = null;
    state.search = "";
    state.component = -1;
    select(-1, -1);
  });
  byId("download").addEventListener("click", () => {
    const link = make("a", { href: URL.createObjectURL(new Blob(["\ufeff" + csv()], { type: "text/csv" })), download: "zeros.csv" });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
  if (data.total) {
    byId("total-range").textContent = "90 % interval: " + big(data.total[1]) + " to " + big(data.total[2]);
    [0, 1, 2].forEach(end => byId("total-marks").append(make("option", { value: slider_at(data.total[end]) })));
  }
  function told() {
    byId("total-said").textContent = state.total === null ? big(estimate) + ", the estimate" : big(state.total);
    byId("total").value = String(slider_at(state.total === null ? estimate : state.total));
    byId("threshold").value = String(Math.round(100 * state.threshold));
    byId("threshold-said").textContent = state.threshold.toFixed(2);
  }
  compute();
  read_state();
  if (state.total !== null) compute();
  draw();
  window.explorer = { csv: csv, state: state, big: big, select: select, flush: flush, states: () => cells.map(state_of) };
})();
