/** What can be done with a server: kept, started again, removed. */
import { useEffect, useState } from "preact/hooks";
import { post } from "../api.js";
import { Button } from "../parts/button.js";
import type { Server } from "../state.generated.js";
import { wordsOf } from "./asked.js";

export function Deeds({ server: { name, added } }: { server: Server }) {
  const [said, setSaid] = useState("");
  const [busy, setBusy] = useState(false);
  const [sure, setSure] = useState(false);
  const put = async (path: string) => {
    setBusy(true);
    setSure(false);
    setSaid(path === "/api/keep" ? KEEPING : "");
    await post<{ file?: string } | undefined>(path, { name }).then(
      (done) => setSaid(done?.file ? `Kept in ${done.file}.` : ""),
      (error: unknown) => setSaid(wordsOf(error)),
    );
    setBusy(false);
  };
  useEffect(() => {
    if (!sure) return;
    // A second press that comes much later is another first one.
    const timer = setTimeout(() => setSure(false), 5_000);
    return () => clearTimeout(timer);
  }, [sure]);
  const removing = `Press again to remove ${name}: its views close.`;
  const common = { quiet: true, disabled: busy };
  return (
    <div class="deeds">
      {added && (
        <Button
          {...common}
          icon="save"
          aria-label={`Keep ${name} in transom.toml`}
          title="Keep it in transom.toml"
          onClick={() => void put("/api/keep")}
        />
      )}
      <Button
        {...common}
        icon="history"
        aria-label={`Start ${name} again`}
        title="Start it again"
        onClick={() => void put("/api/restart")}
      />
      <Button
        {...common}
        icon={sure ? "check" : "remove"}
        aria-label={sure ? `Really remove ${name}` : `Remove ${name}`}
        title={sure ? removing : "Remove it until transom starts again"}
        onClick={() => (sure ? void put("/api/remove") : setSure(true))}
      />
      {(said || sure) && (
        <p class="said" role="status">
          {sure ? removing : said}
        </p>
      )}
    </div>
  );
}

const KEEPING =
  "It may need a yes in the terminal in which transom runs. Waiting…";
