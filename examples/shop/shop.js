// An ordinary shop: fetch, XMLHttpRequest, EventSource and WebSocket of its own site, and nothing else.
const $ = (id) => document.getElementById(id);
const money = (cents) => `€ ${(cents / 100).toFixed(2)}`;
const draw = (template, picture) => {
  const node = $(template).content.firstElementChild.cloneNode(true);
  node.querySelector("use").setAttribute("href", `#${picture}`);
  return node;
};

async function ask(path, init) {
  const response = await fetch(`/api/${path}`, init);
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error);
  return answer;
}

const json = (method, value) => ({ method, headers: { "content-type": "application/json" }, body: JSON.stringify(value) });

// The shelf and the basket.
async function fillShelf() {
  const wares = await ask("wares");
  $("shelf").replaceChildren(
    ...wares.map(({ id, name, note, price }) => {
      const ware = draw("ware", id);
      ware.querySelector("h3").textContent = name;
      ware.querySelector("p").textContent = note;
      ware.querySelector("b").textContent = money(price);
      const add = ware.querySelector("button");
      add.setAttribute("aria-label", `Add ${name}`);
      add.onclick = () => put(id, (held.get(id) ?? 0) + 1);
      return ware;
    }),
  );
  $("shelf").ariaBusy = "false";
}

let held = new Map();
function drawBasket({ lines, total }) {
  held = new Map(lines.map(({ id, count }) => [id, count]));
  const rows = lines.map(({ id, name, count, price }) => {
    const row = draw("row", id);
    row.querySelector(".name").textContent = name;
    row.querySelector("b").textContent = count;
    row.querySelector(".price").textContent = money(price * count);
    row.querySelector(".less").onclick = () => put(id, count - 1);
    row.querySelector(".more").onclick = () => put(id, count + 1);
    return row;
  });
  if (rows.length === 0) rows.push(Object.assign(document.createElement("li"), { className: "soft", textContent: "Empty. Add something you like." }));
  $("lines").replaceChildren(...rows);
  $("count").textContent = lines.reduce((sum, { count }) => sum + count, 0);
  $("total").textContent = money(total);
  $("order").disabled = lines.length === 0;
}

async function put(id, count) {
  try {
    drawBasket(await ask(`basket/${id}`, json("PUT", { count })));
    $("said").textContent = "";
  } catch (error) {
    $("said").textContent = `Not changed: ${error.message}`;
  }
}

$("order").onclick = async () => {
  $("order").disabled = true;
  try {
    const { id, total } = await ask("orders", { method: "POST" });
    $("said").textContent = `Thank you. Order ${id}, ${money(total)}.`;
    drawBasket({ lines: [], total: 0 });
  } catch (error) {
    $("order").disabled = false;
    $("said").textContent = `Not ordered: ${error.message}`;
  }
};

// A file, with its progress: what XMLHttpRequest is still good for.
const picture = document.querySelector("input[type=file]");
picture.onchange = () => {
  picture.previousSibling.textContent = picture.files[0]?.name ?? "Choose a picture";
};
$("custom").onsubmit = (event) => {
  event.preventDefault();
  const request = new XMLHttpRequest();
  request.open("POST", "/api/pictures");
  request.responseType = "json";
  request.upload.onprogress = ({ loaded, total }) => ($("sent").value = total ? loaded / total : 0);
  request.onloadend = async () => {
    $("sent").hidden = true;
    const { status, response } = request;
    $("custom-said").textContent = status === 201 ? `We have it: ${response.name}, ${response.size} bytes. A mug is in your basket.` : `Not sent: ${response?.error ?? "nobody answered"}`;
    if (status !== 201) return;
    drawBasket(response.basket);
    // Shown as the shop has it, not as it was chosen.
    const bytes = await (await fetch(`/api/pictures/${response.id}`)).blob();
    const reader = new FileReader();
    reader.onload = () => Object.assign($("preview"), { src: reader.result, alt: response.name, hidden: false });
    reader.readAsDataURL(bytes);
  };
  $("sent").hidden = false;
  $("sent").value = 0;
  request.send(new FormData($("custom")));
};

// What becomes of orders, as it happens.
const STATES = ["received", "packed", "on its way"];
const feed = new EventSource("/api/orders/feed");
feed.onopen = () => light("feed", true);
feed.onerror = () => light("feed", false);
feed.addEventListener("order", ({ data }) => {
  const { id, total, state } = JSON.parse(data);
  $("orders").querySelector(".soft")?.remove();
  const known = $("orders").querySelector(`[data-order="${Number(id)}"]`);
  const item = known ?? document.createElement("li");
  item.dataset.order = id;
  item.replaceChildren(row(`No. ${id}, ${money(total)}`, state), steps(STATES.indexOf(state)));
  if (!known) $("orders").prepend(item);
});

function row(left, right) {
  const row = Object.assign(document.createElement("div"), { className: "row" });
  row.append(Object.assign(document.createElement("b"), { textContent: left }), Object.assign(document.createElement("span"), { textContent: right }));
  return row;
}

function steps(reached) {
  const box = Object.assign(document.createElement("div"), { className: "steps" });
  box.append(...STATES.map((_, at) => Object.assign(document.createElement("i"), { className: at <= reached ? "done" : "" })));
  return box;
}

function light(id, live) {
  $(id).classList.toggle("live", live);
  $(id).title = live ? "live" : "connecting";
}

// A talk with the potter. A line that breaks is opened again.
let line;
function openLine() {
  line = new WebSocket("/api/chat");
  line.onopen = () => light("line", true);
  line.onmessage = ({ data }) => {
    const { from, words } = JSON.parse(data);
    const item = Object.assign(document.createElement("li"), { textContent: words, className: from === "you" ? "mine" : "" });
    $("talk").append(item);
    $("talk").scrollTop = $("talk").scrollHeight;
  };
  line.onclose = () => {
    light("line", false);
    setTimeout(openLine, 2_000);
  };
}
$("chat").onsubmit = (event) => {
  event.preventDefault();
  const { words } = event.target.elements;
  if (line.readyState !== WebSocket.OPEN) return;
  line.send(JSON.stringify({ words: words.value }));
  words.value = "";
};

openLine();
fillShelf().catch((error) => ($("said").textContent = `The shop does not answer: ${error.message}`));
ask("basket").then(drawBasket, () => {});
