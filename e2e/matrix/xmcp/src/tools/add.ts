import { z } from "zod";

export const schema = { a: z.number(), b: z.number() };
export const metadata = { name: "add", description: "Adds two numbers", annotations: { destructiveHint: false } };

export default function add({ a, b }) {
  return `that is ${a + b}`;
}
