/** The servers with their tools, views that were left behind, and what people decided. */
import { Adding } from "./adding.js";
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
            Add one below, or start transom with it: transom run -- COMMAND.
          </Empty>
        )}
      </div>
      <Adding />
      <DecisionList />
    </>
  );
}
