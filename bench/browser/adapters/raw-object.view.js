export default {
  async createView({ onPartial }) {
    const pending = new Map();
    let last = 0;
    const send = (message) =>
      parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
    const request = (method, params) =>
      new Promise((resolve) => {
        pending.set(++last, resolve);
        send({ id: last, method, params });
      });
    addEventListener("message", ({ source, data }) => {
      if (source !== parent || data?.jsonrpc !== "2.0") return;
      if (data.method === "ui/notifications/tool-input-partial")
        return onPartial(data.params.arguments);
      pending.get(data.id)?.(data.result);
      pending.delete(data.id);
    });
    await request("ui/initialize", {});
    send({ method: "ui/notifications/initialized" });
    return {
      callTool: (name, args) =>
        request("tools/call", { name, arguments: args }),
    };
  },
};
