// The other way round: the page that opens the window is the MCP server, and the page in the frame is the client.
import { McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import { IframeControl, OuterFrameTransport } from "transom/frames";
import { answer, content, element, failure, say } from "../shared/page.js";

const user = { id: 7, name: "Ada Park", role: "lead" };
const projects = [
  { id: 1, name: "Harbour", state: "on time", open: 3 },
  { id: 2, name: "Lighthouse", state: "late", open: 11 },
];

/** A question that a person answers, one at a time. */
let asking = Promise.resolve();
function confirm(words) {
  const asked = asking.then(
    () =>
      new Promise((done) => {
        const dialog = element("question");
        element("words").textContent = words;
        dialog.returnValue = "no";
        dialog.addEventListener("close", () => done(dialog.returnValue === "yes"), { once: true });
        dialog.showModal();
      }),
  );
  asking = asked;
  return asked;
}

/** What the copilot may see, and the one thing that it may ask to be done. */
function makeServer() {
  const server = new McpServer({ name: "dashboard", version: "1.0.0" });
  const reads = (name, title, look) =>
    server.registerTool(name, { title, annotations: { readOnlyHint: true } }, async () => {
      const seen = look();
      return answer(JSON.stringify(seen), seen);
    });
  reads("getCurrentUser", "Who is signed in", () => user);
  reads("getUserProjects", "The person's projects", () => ({ projects }));
  reads("getSystemHealth", "How the system is", () => ({ status: "ok", uptimeHours: 512, errorsPerHour: 2 }));
  reads("getTeamStats", "How the team is", () => ({ members: 5, done: 42, open: projects.reduce((n, { open }) => n + open, 0) }));
  server.registerTool(
    "renameProject",
    {
      title: "Rename a project",
      description: "The person is asked first.",
      inputSchema: z.object({ id: z.int(), name: z.string().trim().min(1).max(60) }),
      annotations: { readOnlyHint: false, destructiveHint: true },
    },
    async ({ id, name }) => {
      const project = projects.find((project) => project.id === id);
      if (!project) return failure(`there is no project ${id}`);
      if (!(await confirm(`The copilot wants to rename “${project.name}” to “${name}”.`)))
        return failure("the person said no");
      project.name = name;
      paint();
      return answer(`project ${id} is called ${name} now`);
    },
  );
  return server;
}

function paint() {
  element("user").textContent = user.name;
  element("projects").replaceChildren(
    ...projects.map(({ name, state, open }) => {
      const item = document.createElement("li");
      item.textContent = `${name}: ${state}, ${open} open`;
      return item;
    }),
  );
}

/** Sets the copilot up, and then connects: the server hears nothing before the copilot has accepted. */
async function connect(outer) {
  element("banner").hidden = true;
  const { title, origin } = await outer.setup();
  attend(outer);
  await makeServer().connect(outer);
  say(`${title} is connected, from ${origin}`);
}

/** Hears what becomes of a connection. */
function attend(outer) {
  outer.onsetuprequired = ({ message }) => {
    element("wish").textContent = `The copilot asks to be set up again: ${message}`;
    element("banner").hidden = false;
    element("setup").onclick = async () => {
      const next = outer.again();
      await outer.close();
      await attempt(next);
    };
  };
  outer.onreload = (next) => {
    attend(next);
    void makeServer().connect(next).catch(report);
  };
}

const report = ({ code, message }) => say(`${code}: ${message}`);
const attempt = (outer) => connect(outer).catch(report);

paint();
await attempt(
  new OuterFrameTransport({
    url: content("copilot"),
    control: new IframeControl({ container: element("copilot"), title: "Copilot" }),
    visible: true,
  }),
);
