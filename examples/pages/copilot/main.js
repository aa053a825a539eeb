// An MCP client that lives in somebody else's page. There is no model in it: words in the question choose the tool.
import { Client } from "@modelcontextprotocol/client";
import { automatic, element, open } from "../shared/page.js";

const REPLIES = [
  [/rename .*?(\d+) to (.+)/i, "renameProject", ([, id, name]) => ({ id: Number(id), name })],
  [/who|user|signed/i, "getCurrentUser"],
  [/project/i, "getUserProjects"],
  [/system|health|up/i, "getSystemHealth"],
  [/team|stat/i, "getTeamStats"],
];

const client = new Client({ name: "copilot", version: "1.0.0" });

/** The script in place of a model: which tool answers a question, and how it is told. */
async function reply(question) {
  for (const [pattern, name, read = () => ({})] of REPLIES) {
    const found = pattern.exec(question);
    if (!found) continue;
    const { content, isError } = await client.callTool({ name, arguments: read(found) });
    return `${name}${isError ? " failed" : ""}: ${content.map(({ text }) => text).join(" ")}`;
  }
  const { tools } = await client.listTools();
  return `I can use ${tools.map(({ name }) => name).join(", ")}`;
}

function put(who, text) {
  const line = document.createElement("p");
  line.className = who;
  line.textContent = `${who}: ${text}`;
  element("said").append(line);
}

const inner = await open({
  setup: automatic({ title: "Copilot", visibility: { requirement: "required" } }),
  async connect(inner) {
    await client.connect(inner);
    const { tools } = await client.listTools();
    put("copilot", `ask me; this page offers ${tools.length} tools`);
  },
});

element("form").onsubmit = async (event) => {
  event.preventDefault();
  const question = element("question").value.trim();
  if (!question) return;
  element("question").value = "";
  put("you", question);
  try {
    put("copilot", await reply(question));
  } catch (error) {
    put("copilot", error.message);
  }
};
// A client may ask for its setup to run again just as a server may.
element("again").onclick = () =>
  inner.requireSetup({ reason: "CONFIG_CHANGED", message: "settings were changed", canContinue: true });
