// Other code on the same page goes on working: what is not for us is left alone.
import assert from "node:assert/strict";
import { openTheatre } from "../rig/stage.mjs";
import { after, test } from "../rig/test.mjs";
import { addStranger, openTrio } from "../rig/trio.mjs";

const theatre = await openTheatre({ after });
const { site } = theatre;

test("a port that another library is handed on the host page stays open", async (t) => {
  const trio = await openTrio(t, theatre, { element: true });
  const other = await addStranger(trio.host, site);
  await trio.host.evaluate(() => {
    addEventListener("message", ({ data, ports: [port] }) => {
      if (data !== "for another library") return;
      port.onmessage = () => port.postMessage("alive");
    });
  });
  const answer = await other.evaluate(() => {
    const { port1, port2 } = new MessageChannel();
    const answered = new Promise(
      (done) => (port1.onmessage = ({ data }) => done(data)),
    );
    parent.postMessage("for another library", "*", [port2]);
    port1.postMessage("are you there?");
    return answered;
  });
  assert.equal(answer, "alive");
});

test("a port that a child frame hands to a view's own code stays open", async (t) => {
  const trio = await openTrio(t, theatre, { element: true });
  const answer = await trio.view.evaluate(() => {
    const answered = new Promise((done) =>
      addEventListener("message", ({ data, ports: [port] }) => {
        if (data !== "for the view's own code") return;
        port.onmessage = (event) => done(event.data);
        port.postMessage("hello");
      }),
    );
    const child = document.body.appendChild(document.createElement("iframe"));
    child.contentDocument.write(`<script>
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => port1.postMessage("alive");
      parent.postMessage("for the view's own code", "*", [port2]);
    </script>`);
    return answered;
  });
  assert.equal(answer, "alive");
});
