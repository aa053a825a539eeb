/**
 * The panes of the page, one line each, in the order of their tabs. A pane is drawn when it is first shown and stays:
 * `load` brings its code then, `component` has it from the start.
 */
import type { Pane } from "./layout.js";
import { HistoryPane } from "./panes/history.js";
import { LogPane } from "./panes/log.js";
import { ServersPane } from "./panes/servers.js";
import { ViewsPane } from "./panes/views.js";

export const PANES: readonly Pane[] = [
  {
    id: "servers",
    title: "Servers",
    icon: "server",
    area: "left",
    component: ServersPane,
  },
  {
    id: "views",
    title: "Views",
    icon: "view",
    area: "centre",
    component: ViewsPane,
  },
  {
    id: "timeline",
    title: "Timeline",
    icon: "time",
    area: "centre",
    load: async () => (await import("./panes/timeline.js")).TimelinePane,
  },
  {
    id: "talk",
    title: "Conversation",
    icon: "talk",
    area: "centre",
    load: () => import("./panes/talk.js").then((it) => it.TalkPane),
  },
  {
    id: "log",
    title: "What happened",
    icon: "log",
    area: "right",
    component: LogPane,
  },
  {
    id: "facts",
    title: "Information",
    icon: "info",
    area: "right",
    load: async () => (await import("./panes/facts.js")).FactsPane,
  },
  {
    id: "runs",
    title: "Runs",
    icon: "history",
    area: "right",
    component: HistoryPane,
  },
];
