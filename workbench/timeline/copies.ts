/** A message in the forms in which people take it elsewhere. */
import { isObject, textOf, type Row } from "./rows.js";

/** As an entry of `fixtures/messages`, or a line of a transcript where it is a server's. */
export function asFixture(row: Row): string {
  const { moment, method, pair, sort } = row;
  const direction = DIRECTIONS.get(`${moment.from} ${moment.to}`);
  const message = moment.message ?? moment.text ?? null;
  if (!direction) {
    const name = (party = "") => (party === "gate" ? "host" : party);
    return JSON.stringify({
      at: Math.round(moment.at / 1000),
      from: name(moment.from),
      to: name(moment.to),
      message,
    });
  }
  const entry = {
    name: `${sort} ${method}`,
    direction,
    ...(sort === "answer" && pair && { answers: pair.method }),
    emit: true,
    message,
  };
  return JSON.stringify(entry, null, 2);
}

/** As a test: a request of a server is made again and must be answered the same; another message must be read and printed. */
export function asRustTest(row: Row): string {
  const request = row.sort === "answer" ? row.pair : row;
  const answer = request?.pair;
  if (request && answer && request.moment.to === "server" && wholeOf(request))
    return callTest(request, answer);
  return readTest(row);
}

function callTest(request: Row, answer: Row): string {
  const message = request.moment.message as Record<string, unknown>;
  const params = JSON.stringify(withoutOurs(message["params"]) ?? {});
  const said = answer.moment.message as Record<string, unknown> | undefined;
  const method = rustString(request.method);
  const expected =
    said?.["error"] !== undefined
      ? `    assert!(outcome.is_err(), "it was answered with an error");`
      : [
          `    let result: Value = serde_json::from_str(outcome.unwrap().get()).unwrap();`,
          `    let expected: Value = serde_json::from_str(${raw(JSON.stringify(said?.["result"] ?? null))}).unwrap();`,
          `    assert_eq!(result, expected);`,
        ].join("\n");
  return `use serde_json::{Value, value::RawValue};
use transom_host::upstream::{CallOptions, Command, Options, Request, Target, Upstream};

#[tokio::test]
async fn ${nameOf(request)}_is_answered_as_it_was() {
    let target = Target::Stdio(Command::new("my-server", Vec::<String>::new()));
    let upstream = Upstream::connect(target, Options::default()).await.unwrap();
    let params = RawValue::from_string(${raw(params)}.to_owned()).unwrap();
    let request = Request::with_params(${method}, &params).unwrap();
    let outcome = upstream.call(&request, CallOptions::default()).unwrap().outcome().await;
${expected}
    upstream.close().await;
}
`;
}

function readTest(row: Row): string {
  return `use transom::rpc::{Message, MessageLimits};

#[test]
fn ${nameOf(row)}_is_read_and_printed() {
    let text = ${raw(textOf(row))};
    let message = Message::parse(text, MessageLimits::default()).unwrap();
    let printed = message.print();
    assert_eq!(Message::parse(&printed, MessageLimits::default()).unwrap(), message);
}
`;
}

const wholeOf = ({ moment }: Row) => isObject(moment.message);

/** What the connection adds by itself. */
function withoutOurs(params: unknown): unknown {
  if (!isObject(params) || !isObject(params["_meta"])) return params;
  const { _meta, ...rest } = params;
  const meta = Object.entries(_meta as object).filter(
    ([name]) =>
      name !== "progressToken" && !name.startsWith("io.modelcontextprotocol/"),
  );
  return meta.length === 0
    ? rest
    : { ...rest, _meta: Object.fromEntries(meta) };
}

function nameOf({ method }: Row): string {
  const name = method.toLowerCase().replace(/[^a-z0-9]+/g, "_");
  return `m_${name.replace(/^_+|_+$/g, "").slice(0, 60)}`;
}

function rustString(text: string): string {
  return JSON.stringify(text).replace(/\\u([0-9a-f]{4})/gi, "\\u{$1}");
}

/** A raw string with as many signs around it as it needs. */
function raw(text: string): string {
  let signs = "#";
  while (text.includes(`"${signs}`)) signs += "#";
  return `r${signs}"${text}"${signs}`;
}

const DIRECTIONS = new Map([
  ["view gate", "view-to-host"],
  ["gate view", "host-to-view"],
]);
