// A view written with Vue as ext-apps' own example is: once it is connected, the official App is kept in a ref. Vue looks at whatever
// it finds in there when it is used, the parent's window among it.
import { App } from "@modelcontextprotocol/ext-apps";
import { createApp, h, ref } from "vue";

createApp({
  setup() {
    const app = ref(null);
    const said = ref("waiting");
    const start = async () => {
      const instance = new App({ name: "vue-view", version: "1" });
      instance.ontoolresult = ({ structuredContent }) => (said.value = structuredContent.said);
      await instance.connect();
      app.value = instance;
      ear.hear("connected");
    };
    const call = async () => {
      const { content } = await app.value.callServerTool({ name: "greet", arguments: { n: 1 } });
      said.value = content[0].text;
    };
    void start();
    return () => [h("button", { onClick: call }, "Greet"), h("p", { id: "said" }, said.value)];
  },
}).mount(document.body.appendChild(document.createElement("div")));
