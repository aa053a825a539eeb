/** A component that is drawn once: what is put into its elements by hand stays as it is. */
import { Component, type ComponentChild, type ComponentType } from "preact";

export function memo(draw: () => ComponentChild): ComponentType {
  return class extends Component {
    override shouldComponentUpdate() {
      return false;
    }
    override render() {
      return draw();
    }
  };
}
