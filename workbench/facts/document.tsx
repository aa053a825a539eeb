/** A view's document: what it is, what it wants, and the policy that it runs under, directive by directive. */
import type { Changed, Claim, DocumentFacts } from "../state.generated.js";
import { bytesOf } from "../timeline/units.js";
import { explain } from "./policy.js";

export function DocumentPart({
  document,
  changed,
}: {
  document: DocumentFacts;
  changed: Changed | undefined;
}) {
  const { uri, sha256, size, pinned, origin, stable, declares } = document;
  return (
    <>
      <h3>Document</h3>
      <dl>
        <dt>Address</dt>
        <dd>{uri}</dd>
        <dt>SHA-256</dt>
        <dd class="hash">{sha256}</dd>
        <dt>Size</dt>
        <dd>{bytesOf(size)}</dd>
        <dt>Origin</dt>
        <dd>
          {origin}
          {stable
            ? " (the same the next time, with what it stores)"
            : " (another one the next time)"}
        </dd>
        <dt>When it changes</dt>
        <dd>
          {pinned
            ? "you are asked before other bytes run"
            : "it may be another one each time, and nobody is asked"}
        </dd>
        <dt>Changed</dt>
        <dd>
          {changed
            ? `${new Date(changed.at).toLocaleTimeString()}: ${changed.what.join("; ")} (before: ${changed.sha256.slice(0, 12)}…)`
            : "not since Transom was started"}
        </dd>
      </dl>
      <h3>Domains</h3>
      <Claims
        claims={document.domains}
        none={
          declares
            ? "It declares that it needs none."
            : "It declares nothing, and so gets none."
        }
      />
      <h3>Permissions</h3>
      <Claims claims={document.permissions} none="It asks for none." />
      <Policy policy={document.policy} />
    </>
  );
}

function Claims({ claims, none }: { claims: Claim[]; none: string }) {
  if (claims.length === 0) return <p>{none}</p>;
  return (
    <ul class="claims">
      {claims.map(({ list, name, granted, why }) => (
        <li key={`${list} ${name}`} class={granted ? "given" : "not-given"}>
          <span>{name}</span>
          {list && <small>{list}</small>}
          <b>{granted ? "given" : "not given"}</b>
          {why && <small>{why}</small>}
        </li>
      ))}
    </ul>
  );
}

function Policy({ policy }: { policy: DocumentFacts["policy"] }) {
  return (
    <>
      <h3>Policy</h3>
      <dl class="policy">
        {policy.map(([name, value]) => (
          <div key={name}>
            <dt>
              <code>
                {name} {value}
              </code>
            </dt>
            <dd>{explain(name, value)}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}
