// @vitest-environment node
import { expect, test } from "vitest";
import { measure } from "../scripts/sizes.mjs";

test("every part is within its budget", async () => {
  const over = (await measure()).filter(({ size, budget }) => size > budget);
  expect(over).toEqual([]);
});
