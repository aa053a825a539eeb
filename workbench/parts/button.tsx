/** A button: with words, with an icon, or with both. One that has an icon alone says its words to who cannot see it. */
import type { ComponentChildren, JSX } from "preact";
import { Icon, type IconName } from "./icon.js";

export type ButtonProps = Omit<
  JSX.IntrinsicElements["button"],
  "icon" | "children"
> & {
  icon?: IconName;
  /** The one that a form is for. */
  primary?: boolean;
  /** Without a border, for rows of small ones. */
  quiet?: boolean;
  children?: ComponentChildren;
};

export function Button({
  icon,
  primary,
  quiet,
  children,
  class: more,
  type = "button",
  ...rest
}: ButtonProps) {
  const kind = [
    "button",
    primary && "primary",
    quiet && "quiet",
    icon && !children && "bare",
    more,
  ];
  return (
    <button {...rest} type={type} class={kind.filter(Boolean).join(" ")}>
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}
