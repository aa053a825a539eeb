/** What a server says of itself, and what it can do. */
import { get } from "../api.js";
import { isObject } from "../form/schema.js";
import { Tree } from "../parts/tree.js";
import { Words } from "../result/words.js";
import type { About } from "../state.generated.js";
import { useAsked } from "./asked.js";

export function AboutServer({ server }: { server: string }) {
  const asked = useAsked(
    () => get<About>(`/api/server?name=${encodeURIComponent(server)}`),
    server,
  );
  if (!asked) return <p class="none">Asking…</p>;
  if (!asked.value) return <p class="fault">{asked.failed}</p>;
  const { place, protocol, said, capabilities, output } = asked.value;
  const instructions = isObject(said) ? said["instructions"] : undefined;
  return (
    <div class="about">
      <dl>
        <dt>Where it is</dt>
        <dd>{place}</dd>
        <dt>MCP</dt>
        <dd>{protocol}</dd>
        <dt>It advertised</dt>
        <dd>{Object.keys(capabilities).join(", ") || "nothing"}</dd>
      </dl>
      {typeof instructions === "string" && (
        <section>
          <h3>What it wants a model to know</h3>
          <Words text={instructions} />
        </section>
      )}
      <h3>All that it said</h3>
      <Tree value={said} name="greeting" open={2} />
      <h3>Standard error</h3>
      {output.length === 0 ? (
        <p class="none">It wrote nothing.</p>
      ) : (
        <pre tabIndex={0}>{output.join("\n")}</pre>
      )}
    </div>
  );
}
