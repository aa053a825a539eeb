// Order statistics and tables.
export function quantile(values, q) {
  const sorted = [...values].sort((a, b) => a - b);
  const place = (sorted.length - 1) * q;
  const low = sorted[Math.floor(place)];
  return low + (sorted[Math.ceil(place)] - low) * (place - Math.floor(place));
}
export const median = (values) => quantile(values, 0.5);

export const round = (value, digits = 2) =>
  Number.isFinite(value) ? value.toFixed(digits) : "–";

export function table(head, rows) {
  const widths = head.map((title, i) =>
    Math.max(title.length, ...rows.map((row) => String(row[i]).length)),
  );
  const line = (row) =>
    `| ${row.map((cell, i) => String(cell).padEnd(widths[i])).join(" | ")} |`;
  return [
    line(head),
    `|${widths.map((width) => "-".repeat(width + 2)).join("|")}|`,
    ...rows.map(line),
  ].join("\n");
}
