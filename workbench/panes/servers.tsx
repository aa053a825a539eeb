/** The servers with their tools, views that were left behind, and what people decided. */
import { DecisionList } from "./decisions.js";
import { LeftBehind } from "./left.js";
import { ServerBox } from "./server.js";
import { Empty } from "../parts/empty.js";
import { Guard } from "../parts/guard.js";
import { known, servers } from "../state.js";

export function ServersPane() {
  return (
    <>
      <LeftBehind />
      <div id="servers">
        {servers.value.map((server) => (
          <Guard key={server.name} name={server.name}>
            <ServerBox server={server} />
          </Guard>
        ))}
        {known.value && servers.value.length === 0 && (
          <Empty icon="server" title="No servers">
            Start transom with a server: transom run -- COMMAND.
          </Empty>
        )}
      </div>
      <DecisionList />
    </>
  );
}
