/** Points are kept as pixels, so that a million of them take no more room than one. */
export const SIDE = 300;

/** Numbers from 0 to 1 that are the same for the same seed. */
export function randoms(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let x = Math.imul(state ^ (state >>> 15), state | 1);
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
    return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A square with a circle in it, and how many points fell where. */
export class Field {
  pixels = new Uint8Array(SIDE * SIDE);
  inside = 0;
  total = 0;

  throw(count, random) {
    for (let i = 0; i < count; i++) {
      const [x, y] = [random(), random()];
      const hit = (x - 0.5) ** 2 + (y - 0.5) ** 2 <= 0.25;
      this.pixels[Math.floor(y * SIDE) * SIDE + Math.floor(x * SIDE)] = hit ? 1 : 2;
      if (hit) this.inside++;
    }
    this.total += count;
  }

  numbers() {
    const { total } = this;
    const estimate = total && (4 * this.inside) / total;
    return { total, estimate, error: total && Math.abs(estimate - Math.PI) };
  }
}
