/** The icons of the page: lines on a grid of 16, in the colour of the text beside them. */

export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg
      class="icon"
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      stroke-width="1.4"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}

const PATHS = {
  server: "M2.5 3h11v4h-11zM2.5 9h11v4h-11zM5 5h.01M5 11h.01",
  view: "M2 3h12v10H2zM2 6h12M4.2 4.5h.01M6 4.5h.01",
  log: "M3 4h10M3 8h10M3 12h6",
  talk: "M2.5 3h11v7.5H8L5 13.2v-2.7H2.5z",
  time: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 4.8V8l2.2 1.6",
  info: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 7.4v3.4M8 5.2h.01",
  run: "M4.5 2.8v10.4L13 8z",
  stop: "M4 4h8v8H4z",
  doctor: "M2 8h3l1.6-4 2.6 8L11 8h3",
  history: "M2.6 8a5.5 5.5 0 1 0 1.7-4L2.5 5.6M2.5 2.6v3h3M8 5v3.2l2 1.2",
  search: "M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM10.6 10.6 14 14",
  close: "M3.5 3.5l9 9M12.5 3.5l-9 9",
  add: "M8 3v10M3 8h10",
  remove: "M3 4.5h10M6 4.5V3h4v1.5M4.5 4.5l.6 8.5h5.8l.6-8.5",
  again: "M13 8a5 5 0 1 1-1.5-3.5M13 2.5v3h-3",
  copy: "M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3",
  save: "M8 2.5v7.5M4.8 7 8 10.2 11.2 7M3 13.5h10",
  left: "M2 3h12v10H2zM6 3v10",
  right: "M2 3h12v10H2zM10 3v10",
  down: "M4 6l4 4 4-4",
  palette: "M4.5 6.5 6 8l-1.5 1.5M8 10h3M2 3h12v10H2z",
  edit: "M3 13l.7-3L10.4 3.3l2.3 2.3L6 12.3z",
  more: "M3.5 8h.01M8 8h.01M12.5 8h.01",
  check: "M3.5 8.5 6.5 11.5 12.5 4.5",
  warning: "M8 2.5 14.5 13.5h-13zM8 6.5v3.4M8 11.7h.01",
  key: "M9.8 6.2a3 3 0 1 0-2 2L9 9.4h1.5v1.5H12V12.5h1.8v-2.4z",
  page: "M4 2h5l3 3v9H4zM9 2v3h3",
  freeze: "M8 2v12M3 5l10 6M13 5 3 11",
} as const;

export type IconName = keyof typeof PATHS;
