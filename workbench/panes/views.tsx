/** The views, each on its card. Cards are no components: a frame that a renderer moves loads anew. */
import { Empty } from "../parts/empty.js";
import { memo } from "../parts/memo.js";

export const ViewsPane = memo(() => (
  <>
    <div id="views" tabIndex={-1} role="region" aria-label="Views" />
    <Empty id="empty" icon="view" title="Nothing is shown yet">
      Choose a tool of one of the servers and run it: its view opens here, and
      what it wants is asked here before it happens.
    </Empty>
  </>
));
