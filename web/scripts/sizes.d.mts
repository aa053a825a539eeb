export function measure(): Promise<
  { name: string; budget: number; size: number }[]
>;
export function measurePeer(): Promise<number>;
