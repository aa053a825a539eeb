import { App } from "../../../web/src/index.ts";

export default {
  async createView({ onPartial }) {
    const app = new App({ name: "bench-view", version: "1" }, {});
    app.ontoolinputpartial = (params) => onPartial(params.arguments);
    await app.connect();
    return {
      callTool: (name, args) => app.callServerTool({ name, arguments: args }),
    };
  },
};
