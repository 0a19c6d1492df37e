import { describe, expect, it } from 'vitest';
import { layoutForest } from './layout';
import { madeUp, state } from './testing';
import type { StateRow } from './types';

/** One long line: root 1, then 2 to n. */
const line = (n: number, marks: Record<number, Partial<StateRow>> = {}) => Array.from({ length: n }, (_, i) => state(i + 1, i || null, { root: 1, ...marks[i + 1] }));

describe('folding runs', () => {
  it('hides plain states in line that are older than the last thirty', () => {
    const scene = layoutForest(line(40), []);
    expect(scene.folds).toEqual([{ key: 2, ids: [2, 3, 4, 5, 6, 7, 8, 9, 10] }]);
    expect(scene.rows).toHaveLength(40 - 9 + 1);
  });

  it('shows as many as it hides: visible rows and hidden states add up', () => {
    for (let seed = 1; seed <= 20; seed++) {
      const { rows, trees } = madeUp(300, seed);
      const scene = layoutForest(rows, trees);
      const hidden = scene.folds.reduce((sum, f) => sum + f.ids.length, 0);
      expect(scene.rows.filter((r) => !r.fold).length + hidden).toBe(300);
      for (const fold of scene.folds) expect(fold.ids.length).toBeGreaterThanOrEqual(3);
    }
  });

  it('doesn’t fold fewer than three', () => {
    expect(layoutForest(line(33), []).folds).toEqual([]);
    expect(layoutForest(line(34), []).folds.map((f) => f.ids)).toEqual([[2, 3, 4]]);
  });

  it('parts a run at a mark, a fork, a hit or a second parent', () => {
    const runs = (rows: StateRow[], keep = new Set<number>()) => layoutForest(rows, [], { keep }).folds.map((f) => f.ids.length);
    expect(runs(line(40, { 6: { list: 3 } }))).toEqual([4, 4]);
    expect(runs(line(40), new Set([6]))).toEqual([4, 4]);
    expect(runs(line(40, { 40: { unsure: true, second: 6 } }))).toEqual([4, 4]);
    expect(runs([...line(40), state(41, 6, { root: 1 })])).toEqual([4, 5]);
  });

  it('opens when asked, and keeps the lanes either way', () => {
    const { rows, trees } = madeUp(300, 5);
    const folded = layoutForest(rows, trees);
    const opened = layoutForest(rows, trees, { opened: new Set(folded.folds.map((f) => f.key)) });
    expect(opened.folds).toEqual([]);
    expect(opened.states.map((s) => s.lane)).toEqual(folded.states.map((s) => s.lane));
  });
});
