/** Times and sizes, for people. */

/** A time since the beginning, in microseconds. */
export function atOf(at: number): string {
  const seconds = at / 1e6;
  if (seconds < 60) return `${seconds.toFixed(3)} s`;
  const minutes = Math.floor(seconds / 60);
  const rest = (seconds % 60).toFixed(3).padStart(6, "0");
  return minutes < 60
    ? `${minutes}:${rest}`
    : `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, "0")}:${rest}`;
}

/** How long something took, in microseconds. */
export function tookOf(took: number): string {
  if (took < 1000) return `${Math.round(took)} µs`;
  if (took < 1e6) return `${(took / 1000).toFixed(took < 10_000 ? 1 : 0)} ms`;
  return `${(took / 1e6).toFixed(2)} s`;
}

export function bytesOf(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 1e6) return `${(bytes / 1000).toFixed(1)} kB`;
  return `${(bytes / 1e6).toFixed(2)} MB`;
}
