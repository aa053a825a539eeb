/** A button that saves something as a file. */
import { Button } from "../parts/button.js";

export function Save({
  name,
  type,
  content,
  words,
}: {
  name: string;
  type: string;
  content: () => BlobPart;
  words: string;
}) {
  const save = () => {
    const href = URL.createObjectURL(new Blob([content()], { type }));
    const link = document.createElement("a");
    Object.assign(link, { href, download: safe(name) });
    link.click();
    setTimeout(() => URL.revokeObjectURL(href), 10_000);
  };
  return (
    <Button quiet icon="save" onClick={save}>
      {words}
    </Button>
  );
}

/** A name that leads nowhere: a stranger may have given it. */
const safe = (name: string) =>
  name
    .replaceAll(/[^\p{L}\p{N}._ -]/gu, "_")
    .replace(/^\.+/, "")
    .slice(0, 80) || "answer";
