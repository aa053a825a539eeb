/** Keeps a mistake in one pane from taking the page with it: the pane says what broke, and the rest goes on. */
import { Component, type ComponentChildren } from "preact";
import { Button } from "./button.js";

type Props = { name: string; children: ComponentChildren };

export class Guard extends Component<Props, { broke?: string | undefined }> {
  override state: { broke?: string | undefined } = {};

  static override getDerivedStateFromError(error: unknown) {
    return { broke: error instanceof Error ? error.message : String(error) };
  }

  override render({ name, children }: Props) {
    const { broke } = this.state;
    if (broke === undefined) return children;
    return (
      <div class="broke" role="alert">
        <p>
          {name} could not be drawn: {broke}
        </p>
        <Button onClick={() => this.setState({ broke: undefined })}>
          Draw it again
        </Button>
      </div>
    );
  }
}
