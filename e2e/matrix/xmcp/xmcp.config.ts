// The port is written into what is built.
export default {
  http: { port: Number(process.env.PORT) },
  stdio: true,
  paths: { tools: "./src/tools", prompts: false, resources: false },
};
