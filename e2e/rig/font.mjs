// A font with one letter, so wide that nobody mistakes it for another one.

/** A TrueType font whose "A" is three times as wide as it is high. */
export function wideFont() {
  const u16 = (...values) => Buffer.from(values.flatMap((value) => [(value >> 8) & 255, value & 255]));
  const u32 = (...values) => Buffer.concat(values.map((value) => u16(value >>> 16, value & 0xffff)));
  // A box: one contour of four points, coordinates as differences.
  const box = Buffer.concat([u16(1, 0, 0, 2900, 700, 3, 0), Buffer.from([1, 1, 1, 1]), u16(0, 2900, 0, -2900), u16(0, 0, 700, 0), Buffer.alloc(2)]);
  const family = Buffer.from("Wide", "utf16le").swap16();
  const names = [1, 2, 4, 6];
  const tables = {
    "OS/2": Buffer.concat([u16(4, 3000, 400, 5, 0), u16(650, 700, 0, 140, 650, 700, 0, 480, 50, 250, 0), Buffer.alloc(10), u32(1, 0, 0, 0), Buffer.from("NONE"), u16(64, 65, 65, 700, 0, 0, 700, 0), u32(1, 0), u16(500, 700, 0, 32, 0)]),
    cmap: Buffer.concat([u16(0, 1, 3, 1), u32(12), u16(4, 32, 0, 4, 4, 1, 0, 65, 0xffff, 0, 65, 0xffff, 1 - 65, 1, 0, 0)]),
    glyf: box,
    head: Buffer.concat([u32(0x10000, 0x10000, 0, 0x5f0f3cf5), u16(0, 1000), Buffer.alloc(16), u16(0, 0, 2900, 700, 0, 8, 2, 0, 0)]),
    hhea: Buffer.concat([u32(0x10000), u16(700, 0, 0, 3000, 0, 100, 2900, 1, 0, 0, 0, 0, 0, 0, 0, 2)]),
    hmtx: u16(3000, 0, 3000, 0),
    loca: u16(0, 0, box.length / 2),
    maxp: Buffer.concat([u32(0x10000), u16(2, 4, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0)]),
    name: Buffer.concat([u16(0, names.length, 6 + 12 * names.length), ...names.map((id) => u16(3, 1, 0x409, id, family.length, 0)), family]),
    post: Buffer.concat([u32(0x30000, 0), u16(0, 0), u32(0, 0, 0, 0, 0)]),
  };
  const tags = Object.keys(tables).sort();
  const search = 2 ** Math.floor(Math.log2(tags.length)) * 16;
  const parts = [u32(0x10000), u16(tags.length, search, Math.log2(search / 16), tags.length * 16 - search)];
  let offset = 12 + 16 * tags.length;
  const padded = tags.map((tag) => Buffer.concat([tables[tag], Buffer.alloc((4 - (tables[tag].length % 4)) % 4)]));
  tags.forEach((tag, n) => {
    let sum = 0;
    for (let at = 0; at < padded[n].length; at += 4) sum = (sum + padded[n].readUInt32BE(at)) >>> 0;
    parts.push(Buffer.from(tag.padEnd(4)), u32(sum, offset, tables[tag].length));
    offset += padded[n].length;
  });
  return Buffer.concat([...parts, ...padded]);
}
