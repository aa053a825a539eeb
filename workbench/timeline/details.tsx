/** One message: as a tree, as it travelled, beside its answer, and in the forms in which people take it elsewhere. */
import { useEffect, useState } from "preact/hooks";
import { request } from "../api.js";
import { Button } from "../parts/button.js";
import { Code } from "../parts/code.js";
import { Copy } from "../parts/copy.js";
import { Tabs } from "../parts/tabs.js";
import { Tree } from "../parts/tree.js";
import { asFixture, asRustTest } from "./copies.js";
import { wayOf } from "./line.js";
import { Rows, textOf, type Row } from "./rows.js";
import { atOf, bytesOf, tookOf } from "./units.js";

export function Details({
  row,
  isLive,
  choose,
  close,
}: {
  row: Row;
  isLive: boolean;
  choose: (row: Row) => void;
  close: () => void;
}) {
  const [tab, setTab] = useState("tree");
  const whole = useWhole(row, isLive);
  const { moment, sort, method, pair } = row;
  const isMessage = moment.kind === "message";
  return (
    <aside class="moment-details" aria-label="The chosen moment">
      <header>
        <h3>{method}</h3>
        <Button quiet icon="close" aria-label="Close" onClick={close} />
      </header>
      <Facts row={row} />
      {pair && (
        <Button onClick={() => choose(pair)}>
          {sort === "answer" ? "Show its request" : "Show its answer"}
        </Button>
      )}
      {!isMessage ? (
        <Tree value={moment} name="moment" open={2} />
      ) : (
        <>
          <Tabs
            tabs={FORMS}
            chosen={tab}
            choose={setTab}
            label="Forms of the message"
            prefix="moment"
          />
          <div
            role="tabpanel"
            id={`moment-panel-${tab}`}
            aria-labelledby={`moment-tab-${tab}`}
          >
            {whole === undefined ? (
              <p>Loading the whole message…</p>
            ) : (
              <Form tab={tab} row={whole} />
            )}
          </div>
        </>
      )}
    </aside>
  );
}

function Facts({ row }: { row: Row }) {
  const { moment, took, verdict } = row;
  return (
    <dl>
      <Fact name="When" value={atOf(moment.at)} />
      <Fact name="Way" value={wayOf(row)} />
      <Fact name="Server" value={moment.server} />
      <Fact name="View" value={moment.view} />
      <Fact
        name="Size"
        value={moment.size === undefined ? undefined : bytesOf(moment.size)}
      />
      <Fact name="Took" value={took === undefined ? undefined : tookOf(took)} />
      <Fact
        name="Verdict"
        value={
          verdict &&
          `${verdict.outcome ?? ""}${verdict.words ? `: ${verdict.words}` : ""}`
        }
      />
      <Fact
        name="Secrets taken out"
        value={moment.redacted ? String(moment.redacted) : undefined}
      />
      <Fact name="Words" value={moment.words} />
    </dl>
  );
}

function Form({ tab, row }: { tab: string; row: Row }) {
  const { moment } = row;
  switch (tab) {
    case "tree":
      return moment.message === undefined ? (
        <>
          {moment.cut && <p>This is only its beginning.</p>}
          <Code text={moment.text ?? ""} label="the message" />
        </>
      ) : (
        <div class="as-tree">
          <Copy
            text={JSON.stringify(moment.message, null, 2)}
            label="the message as JSON"
          />
          <Tree value={moment.message} name="message" open={3} />
        </div>
      );
    case "raw":
      return <Code text={textOf(row)} label="the message as it travelled" />;
    case "fixture":
      return <Code text={asFixture(row)} label="the message as a fixture" />;
    default:
      return <Code text={asRustTest(row)} label="the message as a Rust test" />;
  }
}

function Fact({ name, value }: { name: string; value: string | undefined }) {
  if (value === undefined || value === "") return null;
  return (
    <>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </>
  );
}

/** A message whose beginning alone was told is asked for when somebody looks at it. */
function useWhole(row: Row, isLive: boolean): Row | undefined {
  const cut = isLive && row.moment.cut === true;
  const [whole, setWhole] = useState<Row | undefined>(cut ? undefined : row);
  useEffect(() => {
    if (!cut) return;
    const gone = new AbortController();
    request(`/api/timeline/${row.moment.n}`, { signal: gone.signal })
      .then(async (response) => {
        const rows = new Rows();
        rows.line((await response.text()).trimEnd());
        const all = rows.rows[0];
        setWhole(
          all
            ? {
                ...row,
                moment: all.moment,
                line: all.line,
              }
            : row,
        );
      })
      // It is not kept any more: its beginning is.
      .catch(() => {
        if (!gone.signal.aborted) setWhole(row);
      });
    return () => gone.abort();
  }, [row]);
  return whole;
}

const FORMS = [
  { id: "tree", title: "Tree" },
  { id: "raw", title: "Raw" },
  { id: "fixture", title: "Fixture" },
  { id: "rust", title: "Rust test" },
];
