import type { StateRow, TreeRow } from './types';

/** A row for a test; what isn't given is plain. */
export function state(id: number, parent: number | null, more: Partial<StateRow> = {}): StateRow {
  return {
    id,
    turn: id,
    position: id,
    parent,
    root: id,
    depth: 0,
    time: new Date(Date.UTC(2026, 2, 2) + id * 3_600_000).toISOString(),
    label: `Turn ${id}`,
    facts: 0,
    list: 0,
    replaced: false,
    new_value: false,
    pending: false,
    unsure: false,
    moved_from: null,
    second: null,
    entities: [],
    ...more,
  };
}

/** A small generator, so that a failing forest can be made again from its seed. */
export function randomness(seed: number): () => number {
  let s = seed >>> 0;
  return () => (s = (Math.imul(s, 1664525) + 1013904223) >>> 0) / 2 ** 32;
}

/** A made-up forest of n states: now and then a root, mostly going on from a recent state, sometimes from any. */
export function madeUp(n: number, seed: number): { rows: StateRow[]; trees: TreeRow[] } {
  const random = randomness(seed);
  const rows: StateRow[] = [];
  const trees: TreeRow[] = [];
  for (let id = 1; id <= n; id++) {
    const plant = id === 1 || random() < 0.03;
    const recent = random() < 0.8 ? Math.min(12, id - 1) : id - 1;
    const parent = plant ? null : id - 1 - Math.floor(random() * recent);
    const root = parent === null ? id : rows[parent - 1].root;
    if (parent === null) trees.push({ root: id, order: trees.length, topic: `Tree ${id}`, variants: [] });
    rows.push(state(id, parent, { root, list: random() < 0.03 ? 4 : 0, unsure: random() < 0.03 }));
  }
  return { rows, trees };
}
