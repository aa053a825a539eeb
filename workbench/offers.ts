/** The tools that a view itself offers. */
import type { Called, Offers, TransomView } from "../web/src/host.js";
import { make } from "./dom.js";
import { h, render } from "preact";
import { ArgumentsForm } from "./form/form.js";
import type { Form } from "./state.generated.js";

/** The tools that the view itself offers, apart from its server's (H-114); here a person calls them in the model's place. */
export function offers(
  card: HTMLElement,
  view: TransomView,
  tools: Offers["tools"],
): void {
  const before = card.querySelector(".offers");
  const box = make("section", {
    className: "offers",
    ariaLabel: "Tools of this view",
  });
  box.append(
    make("p", {
      className: "note",
      textContent: "This view offers tools to the model:",
    }),
  );
  const kept = [...(before?.querySelectorAll<HTMLElement>("details") ?? [])];
  for (const tool of tools.slice(0, TOOLS) as Offered[]) {
    // A tool that did not change stays: the person may be filling in its form, or waiting for its answer.
    const same = JSON.stringify(tool);
    box.append(
      kept.find(({ dataset }) => dataset["tool"] === same) ??
        offer(tool, same, view),
    );
  }
  for (const open of before?.querySelectorAll("details[open] summary") ?? [])
    box
      .querySelector(
        `summary[title="${CSS.escape((open as HTMLElement).title)}"]`,
      )
      ?.parentElement?.setAttribute("open", "");
  if (tools.length === 0) before?.remove();
  else if (before) before.replaceWith(box);
  else card.append(box);
}

type Offered = Offers["tools"][number] & Form & { label: string };

function offer(tool: Offered, same: string, view: TransomView): HTMLElement {
  const details = make("details", { className: "tool" });
  details.dataset["tool"] = same;
  const summary = make("summary", { textContent: tool.title ?? tool.label });
  summary.title = tool.label;
  const id = crypto.randomUUID();
  const answer = make("pre", {
    className: "answer",
    hidden: true,
    tabIndex: 0,
  });
  answer.dataset["call"] = id;
  const box = make("div", {});
  details.append(summary, box);
  const draw = () =>
    render(
      h(ArgumentsForm, {
        schema: tool.inputSchema,
        about: tool.description,
        run: (values) => {
          answer.hidden = false;
          answer.textContent = "Waiting for the view…";
          view.say({ call: { id, name: tool.name, arguments: values } });
        },
      }),
      box,
    );
  // A view says what its tools are, and may say much of it every second: a form is drawn when the person opens it.
  details.addEventListener("toggle", draw, { once: true });
  details.append(answer);
  return details;
}

export function called(card: HTMLElement, { id, text, failed }: Called): void {
  const answer = card.querySelector<HTMLElement>(
    `.answer[data-call="${CSS.escape(id)}"]`,
  );
  if (!answer) return;
  answer.textContent = text || "The answer has no text.";
  answer.classList.toggle("failed", failed);
}

/** How many tools are listed at most. */
export const TOOLS = 500;
