/** What writes one plain value: a text, a number, a choice, a file, or JSON where nothing else fits. */
import { useEffect, useState } from "preact/hooks";
import type { WriterProps } from "./sheet.js";
import { shown, type Json } from "./schema.js";
import { exact, LOSSY, read } from "./value.js";

export function Text({
  id,
  about,
  schema,
  value,
  set,
  needed,
  lines,
  input,
  name,
}: WriterProps & { lines: boolean; input: string }) {
  const text = typeof value === "string" ? value : "";
  const common = {
    id,
    name,
    ...about,
    value: text,
    placeholder: needed ? "" : "not sent",
    autocomplete: "off",
    spellcheck: false,
  };
  const take = (to: string) =>
    set(to === "" && schema["minLength"] !== 0 ? undefined : to);
  if (input !== "text")
    return (
      <input
        {...common}
        type={input as "text"}
        onInput={({ currentTarget }) => take(currentTarget.value)}
      />
    );
  const tall = lines || text.includes("\n");
  return (
    // One line of a text can become several, by pasting: an input would lose their ends.
    <textarea
      {...common}
      rows={tall ? 4 : 1}
      class={tall ? "tall" : "low"}
      onInput={({ currentTarget }) => take(currentTarget.value)}
      onKeyDown={(event) => {
        const plain = !event.shiftKey && !event.altKey && !tall;
        if (
          event.key !== "Enter" ||
          event.isComposing ||
          !(plain || event.ctrlKey || event.metaKey)
        )
          return;
        event.preventDefault();
        event.currentTarget.form?.requestSubmit();
      }}
    />
  );
}

export function Num({
  id,
  about,
  sheet,
  at,
  value,
  set,
  needed,
  whole,
  name,
}: WriterProps & { whole: boolean }) {
  const [typed, setTyped] = useState(
    typeof value === "number" ? String(value) : "",
  );
  // It was changed elsewhere: in the JSON tab, or by another item of its list going away.
  useEffect(() => {
    const now = typed.trim() === "" ? undefined : Number(typed);
    if (sheet.unread.has(at) || now === value) return;
    setTyped(typeof value === "number" ? String(value) : "");
  }, [value]);
  const take = (text: string) => {
    setTyped(text);
    sheet.unread.delete(at);
    const number = Number(text);
    const plain = /^\s*[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?\s*$/i.test(text);
    if (text.trim() === "") return set(undefined);
    if (!plain || !Number.isFinite(number))
      sheet.unread.set(at, "Write a number.");
    else if (!exact(text.trim().replace(/^\+/, "")))
      sheet.unread.set(at, LOSSY);
    else if (whole && !Number.isInteger(number))
      sheet.unread.set(at, "Write a whole number.");
    set(sheet.unread.has(at) ? undefined : number);
  };
  return (
    <input
      id={id}
      name={name}
      {...about}
      inputMode={whole ? "numeric" : "decimal"}
      autocomplete="off"
      placeholder={needed ? "" : "not sent"}
      value={typed}
      onInput={({ currentTarget }) => take(currentTarget.value)}
    />
  );
}

/** A yes or no; one that may be left out has a third place. */
export function Switch({ id, about, value, set, needed, name }: WriterProps) {
  if (needed)
    return (
      <input
        type="checkbox"
        id={id}
        name={name}
        {...about}
        checked={value === true}
        onChange={({ currentTarget }) => set(currentTarget.checked)}
      />
    );
  return (
    <Choice
      {...({ id, about, value, set, needed, name } as WriterProps)}
      values={[true, false]}
      names={["true", "false"]}
    />
  );
}

export function Choice({
  id,
  about,
  value,
  set,
  values,
  names,
  needed,
  name,
}: WriterProps & { values: Json[]; names: string[] }) {
  const text = JSON.stringify(value);
  const now = values.findIndex((each) => JSON.stringify(each) === text);
  if (needed && values.length === 1 && now === 0)
    return <code id={id}>{names[0]}</code>;
  return (
    <select
      id={id}
      name={name}
      {...about}
      value={String(now)}
      onChange={({ currentTarget }) => {
        const to = Number(currentTarget.value);
        set(to < 0 ? undefined : values[to]);
      }}
    >
      {(!needed || now < 0) && (
        <option value="-1">{needed ? "Choose…" : "not sent"}</option>
      )}
      {names.map((each, at) => (
        <option key={at} value={String(at)}>
          {each}
        </option>
      ))}
    </select>
  );
}

/** A file goes as the text that the schema asks for. */
export function File({
  id,
  about,
  sheet,
  at,
  value,
  set,
  url,
  accept,
  name,
}: WriterProps & { url: boolean; accept: string }) {
  const [said, setSaid] = useState("");
  const take = async (file: Blob & { name?: string }) => {
    sheet.unread.delete(at);
    if (file.size > LARGEST) {
      sheet.unread.set(at, `The file is larger than ${LARGEST >> 20} MB.`);
      return set(undefined);
    }
    const address = await asAddress(file);
    setSaid(`${file.name ?? "A file"}, ${file.size} bytes`);
    set(url ? address : address.slice(address.indexOf(",") + 1));
  };
  return (
    <div class="file">
      <input
        type="file"
        id={id}
        name={name}
        {...about}
        {...(accept && { accept })}
        onChange={({ currentTarget: { files } }) => {
          const [file] = files ?? [];
          if (file)
            take(file).catch(() => {
              sheet.unread.set(at, "The file cannot be read.");
              set(undefined);
            });
        }}
      />
      <span class="said" role="status">
        {typeof value === "string"
          ? said || `${value.length} characters of base64`
          : ""}
      </span>
    </div>
  );
}

function asAddress(file: Blob): Promise<string> {
  return new Promise((done, failed) => {
    const reader = new FileReader();
    reader.onload = () => done(String(reader.result));
    reader.onerror = () => failed(new Error("unreadable"));
    reader.readAsDataURL(file);
  });
}

/** Any value, as JSON. */
export function JsonText({
  id,
  about,
  sheet,
  at,
  value,
  set,
  needed,
  name,
}: WriterProps & { why: string }) {
  const [typed, setTyped] = useState(
    value === undefined ? "" : JSON.stringify(value, null, 2),
  );
  useEffect(() => {
    if (sheet.unread.has(at)) return;
    try {
      if (typed !== "" && shown(read(typed)) === shown(value)) return;
    } catch {
      // What stands there is not what counts any more.
    }
    setTyped(value === undefined ? "" : JSON.stringify(value, null, 2));
  }, [value]);
  const take = (text: string) => {
    setTyped(text);
    sheet.unread.delete(at);
    if (text.trim() === "") return set(undefined);
    try {
      set(read(text));
    } catch (error) {
      const lossy = error instanceof Error && error.message === LOSSY;
      sheet.unread.set(at, lossy ? LOSSY : "Write this as JSON.");
      set(undefined);
    }
  };
  return (
    <textarea
      id={id}
      name={name}
      class="json"
      {...about}
      placeholder={needed ? "JSON" : "JSON, or nothing: not sent"}
      spellcheck={false}
      value={typed}
      onInput={({ currentTarget }) => take(currentTarget.value)}
    />
  );
}

/** In bytes: it goes to the server in one message. */
const LARGEST = 8 << 20;
