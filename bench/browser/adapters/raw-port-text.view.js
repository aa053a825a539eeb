export default {
  async createView({ onPartial }) {
    const pending = new Map();
    let last = 0;
    const port = await new Promise((resolve) => {
      const listener = ({ source, ports, data }) => {
        if (source !== parent || !ports[0] || !data?.jsonrpc) return;
        removeEventListener("message", listener);
        resolve(ports[0]);
      };
      addEventListener("message", listener);
      parent.postMessage(
        { jsonrpc: "2.0", id: 0, method: "ui/initialize", params: {} },
        "*",
      );
    });
    const send = (message) =>
      port.postMessage(JSON.stringify({ jsonrpc: "2.0", ...message }));
    port.onmessage = (event) => {
      const { id, method, params, result } = JSON.parse(event.data);
      if (method) return onPartial(params.arguments);
      pending.get(id)(result);
      pending.delete(id);
    };
    send({ method: "ui/notifications/initialized" });
    return {
      callTool: (name, args) =>
        new Promise((resolve) => {
          pending.set(++last, resolve);
          send({
            id: last,
            method: "tools/call",
            params: { name, arguments: args },
          });
        }),
    };
  },
};
