/** One block of an answer or of a prompt. What it is, its own words say; what is drawn of it is decided here. */
import { useState } from "preact/hooks";
import { isObject } from "../form/schema.js";
import { Button } from "../parts/button.js";
import { Tree } from "../parts/tree.js";
import { askServer } from "../runs.js";
import { Save } from "./save.js";
import { Words } from "./words.js";

export function Block({ block, server }: { block: unknown; server?: string }) {
  if (!isObject(block)) return <Tree value={block} name="block" />;
  const { type } = block;
  const more = <Notes block={block} />;
  if (type === "text" && typeof block["text"] === "string")
    return (
      <Framed kind="text" more={more}>
        <Words text={block["text"]} />
      </Framed>
    );
  if (
    (type === "image" || type === "audio") &&
    typeof block["data"] === "string"
  )
    return (
      <Framed kind={type} more={more}>
        <Media data={block["data"]} mime={textOf(block["mimeType"])} />
      </Framed>
    );
  if (type === "resource" && isObject(block["resource"]))
    return (
      <Framed kind="resource" more={more}>
        <Contents contents={block["resource"]} />
      </Framed>
    );
  if (type === "resource_link" && typeof block["uri"] === "string")
    return (
      <Framed kind="link" more={more}>
        <Link link={block} {...(server !== undefined && { server })} />
      </Framed>
    );
  return <Tree value={block} name="block" />;
}

function Framed({
  kind,
  children,
  more,
}: {
  kind: string;
  children: preact.ComponentChildren;
  more: preact.ComponentChildren;
}) {
  return (
    <div class={`block block-${kind}`}>
      {children}
      {more}
    </div>
  );
}

/** What a block says of itself beside its content. */
function Notes({ block }: { block: { [name: string]: unknown } }) {
  const { annotations, _meta } = block;
  if (annotations === undefined && _meta === undefined) return null;
  return (
    <Tree
      value={{
        ...(annotations !== undefined && { annotations }),
        ...(_meta !== undefined && { _meta }),
      }}
      name="about this block"
      open={0}
    />
  );
}

/** The content of a resource, embedded or read. */
export function Contents({
  contents,
}: {
  contents: { [name: string]: unknown };
}) {
  const { uri, text, blob } = contents;
  const mime = textOf(contents["mimeType"]);
  return (
    <>
      {typeof uri === "string" && <code class="uri">{uri}</code>}
      {typeof text === "string" && <Words text={text} mime={mime} />}
      {typeof blob === "string" && (
        <Media
          data={blob}
          mime={mime}
          name={typeof uri === "string" ? uri.split("/").at(-1) : undefined}
        />
      )}
      {typeof text !== "string" && typeof blob !== "string" && (
        <Tree value={contents} name="resource" />
      )}
    </>
  );
}

/** Pictures and sound, as far as a browser draws them without running anything; the rest can be saved. */
function Media({
  data,
  mime,
  name = "file",
}: {
  data: string;
  mime: string;
  name?: string | undefined;
}) {
  const [broken, setBroken] = useState(false);
  const plain = data.replaceAll(/\s/g, "");
  const sound = plain.length % 4 !== 1 && /^[A-Za-z0-9+/]*={0,2}$/.test(plain);
  if (!sound)
    return (
      <p class="none">{`Not shown: its data is not base64 (${mime || "no type"}).`}</p>
    );
  const address = `data:${mime};base64,${plain}`;
  const bytes = Math.floor((plain.replace(/=+$/, "").length * 3) / 4);
  const failed = () => setBroken(true);
  const kind = broken
    ? ""
    : IMAGE.test(mime)
      ? "image"
      : AUDIO.test(mime)
        ? "audio"
        : "";
  return (
    <div class="media">
      {kind === "image" && (
        <img
          src={address}
          alt={`A picture in the answer (${mime})`}
          onError={failed}
        />
      )}
      {kind === "audio" && <audio controls src={address} onError={failed} />}
      {kind === "" && (
        <p class="none">
          {broken
            ? `The browser cannot show this ${mime}.`
            : `${mime || "A file"}, which is not shown here.`}
        </p>
      )}
      <Save
        name={name}
        type={kind ? mime : "application/octet-stream"}
        words={`Save (${bytes} bytes)`}
        content={() => Uint8Array.from(atob(plain), (c) => c.charCodeAt(0))}
      />
    </div>
  );
}

/** A resource that the answer only names. */
function Link({
  link,
  server,
}: {
  link: { [name: string]: unknown };
  server?: string;
}) {
  const [read, setRead] = useState<
    { contents?: unknown; failed?: string } | undefined
  >(undefined);
  const uri = String(link["uri"]);
  const title = textOf(link["title"]) || textOf(link["name"]) || uri;
  const ask = () =>
    askServer<{ contents?: unknown }>(server!, "resources/read", { uri }).then(
      setRead,
      (error: unknown) =>
        setRead({
          failed: error instanceof Error ? error.message : String(error),
        }),
    );
  return (
    <>
      <b>{title}</b>
      {/^https?:\/\//i.test(uri) ? (
        // The whole address is what is shown: words could name another place.
        <a href={uri} target="_blank" rel="noopener noreferrer" class="uri">
          {uri}
        </a>
      ) : (
        <code class="uri">{uri}</code>
      )}
      {textOf(link["description"]) && <p>{textOf(link["description"])}</p>}
      {server !== undefined && !read && (
        <Button quiet onClick={() => void ask()}>
          Read it from the server
        </Button>
      )}
      {read?.failed !== undefined && <p class="fault">{read.failed}</p>}
      {read && <Read contents={read.contents} />}
    </>
  );
}

/** What a server answered when a resource was read. */
export function Read({ contents }: { contents: unknown }) {
  if (!Array.isArray(contents)) return null;
  return (
    <>
      {contents.map((each, at) =>
        isObject(each) ? (
          <Contents key={at} contents={each} />
        ) : (
          <Tree key={at} value={each} name="contents" />
        ),
      )}
    </>
  );
}

const textOf = (value: unknown) => (typeof value === "string" ? value : "");
const IMAGE = /^image\/(png|jpeg|gif|webp|avif|bmp|svg\+xml)$/i;
const AUDIO = /^audio\/[\w.+-]+$/i;
