/** What stands in a pane that has nothing to show: why, and what to do. */
import type { ComponentChildren } from "preact";
import { Icon, type IconName } from "./icon.js";

export function Empty({
  icon,
  title,
  id,
  children,
}: {
  icon?: IconName;
  title?: string;
  id?: string;
  children?: ComponentChildren;
}) {
  return (
    <div class="empty" id={id}>
      {icon && <Icon name={icon} size={28} />}
      {title && <h3>{title}</h3>}
      {children && <p>{children}</p>}
    </div>
  );
}
