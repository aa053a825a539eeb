/** All that a tool answered: its content block by block, its data as a tree, and what else is in it. A stranger wrote it. */
import { isObject } from "../form/schema.js";
import { Code } from "../parts/code.js";
import { Tree } from "../parts/tree.js";
import { Block } from "./block.js";
import { Save } from "./save.js";

export function Result({
  value,
  server,
  name,
}: {
  value: unknown;
  server?: string;
  name: string;
}) {
  if (!isObject(value)) return <Tree value={value} name="answer" />;
  const { content, structuredContent, isError, _meta, ...others } = value;
  const blocks = Array.isArray(content) ? content : undefined;
  const rest = {
    ...(content !== undefined && !blocks && { content }),
    ...others,
  };
  const text = () => JSON.stringify(value, null, 2);
  return (
    <div class="result">
      {isError === true && (
        <p class="result-error" role="alert">
          The tool says that it failed.
        </p>
      )}
      {blocks?.slice(0, BLOCKS).map((block, at) => (
        <Block
          key={at}
          block={block}
          {...(server !== undefined && { server })}
        />
      ))}
      {blocks && blocks.length > BLOCKS && (
        <p>{`… and ${blocks.length - BLOCKS} more blocks, which are in the raw answer.`}</p>
      )}
      {blocks?.length === 0 && structuredContent === undefined && (
        <p class="none">The answer has no content.</p>
      )}
      <Part title="Data" name="structuredContent" value={structuredContent} />
      <Part title="Metadata" name="_meta" value={_meta} />
      {Object.keys(rest).length > 0 && (
        <Part title="Other members" name="others" value={rest} />
      )}
      <details class="raw">
        <summary>Raw</summary>
        <Code text={text()} label="the answer" />
      </details>
      <Save
        name={`${name}.json`}
        type="application/json"
        content={text}
        words="Save the answer"
      />
    </div>
  );
}

/** One member of an answer, as a tree. */
function Part({
  title,
  name,
  value,
}: {
  title: string;
  name: string;
  value: unknown;
}) {
  if (value === undefined) return null;
  return (
    <section>
      <h4>{title}</h4>
      <Tree value={value} name={name} open={2} />
    </section>
  );
}

/** How many blocks of an answer are drawn. */
const BLOCKS = 200;
