/** The name of the page with its sign: the window above a door, which lets in light while the door stays shut. */
export function Wordmark() {
  return (
    <span class="wordmark">
      <svg width="22" height="22" viewBox="0 0 32 32" aria-hidden="true">
        <rect class="ground" width="32" height="32" rx="7" />
        <path class="bar" d="M6 17a10 10 0 0 1 20 0" />
        <path class="ray" d="M16 17V7M16 17l-7-6.5M16 17l7-6.5" />
        <path class="bar" d="M5 21.5h22" />
        <path class="ray" d="M10 22v4.5M22 22v4.5" />
      </svg>
      Transom
    </span>
  );
}
