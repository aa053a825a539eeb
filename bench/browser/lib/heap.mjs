/** The heap of a page and its frames, in bytes. Frames of one site share one isolate: each isolate is counted once. */
export async function usedHeap(page) {
  await page.attachChildren();
  await new Promise((done) => setTimeout(done, 500));
  const isolates = new Map();
  for (const { cdp } of [
    page,
    ...page.children.filter(({ type }) => type === "iframe"),
  ]) {
    try {
      for (let i = 0; i < 3; i++) await cdp("HeapProfiler.collectGarbage");
      const { id } = await cdp("Runtime.getIsolateId");
      isolates.set(id, (await cdp("Runtime.getHeapUsage")).usedSize);
    } catch {
      // A frame that is gone.
    }
  }
  return [...isolates.values()].reduce((sum, used) => sum + used, 0);
}
