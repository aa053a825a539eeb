/** Tools of the server, called by the names that the server gave them. */
import { objectOf } from "./error.js";
import type { App } from "./view.js";
import type { CallToolResult, ListToolsResult } from "./wire.js";

/**
 * Calls a tool. A gateway may have put a prefix before the server's names: when the Host does not know a name, the prefix
 * is learnt from the only name in its list that ends in it.
 */
export function openServerTools(app: App): App["callServerTool"] {
  let prefix = "";
  return async (params, options) => {
    const { name } = params;
    objectOf(params, "callServerTool", "name, arguments");
    const attempt = async () => ({
      content: [],
      ...(await app.request<Partial<CallToolResult>>(
        {
          method: "tools/call",
          params: {
            ...params,
            name: name.startsWith(prefix) ? name : prefix + name,
          },
        },
        { onprogress() {}, ...options },
      )),
    });
    try {
      return await attempt();
    } catch (error) {
      // The Host names the tool that it does not know, if it knows any by that ending.
      const { tools = [] }: Partial<ListToolsResult> =
        /unknown|not found/i.test((error as Error).message)
          ? await app.request({ method: "tools/list" }).catch(() => ({}))
          : {};
      const [found, ...others] = tools.filter((tool) =>
        tool.name.endsWith(name),
      );
      if (!found || others.length) throw error;
      prefix = found.name.slice(0, -name.length);
      return attempt();
    }
  };
}
