import { describe, expect, it } from 'vitest';
import { GROWING, layoutForest, pathTo, ROW, rowAt } from './layout';
import { madeUp, state } from './testing';

describe('laying out a forest', () => {
  it('gives every row its height: turn 1, station 1.9, capsule 1.5, growing 1.9', () => {
    const rows = [state(1, null, { root: 1 }), state(2, 1, { root: 1 })];
    const scene = layoutForest(rows, [], { growing: { parent: 2, label: '…' } });
    expect(scene.rows.map((r) => r.size)).toEqual([ROW.station, ROW.turn, ROW.growing]);
    expect(scene.height).toBeCloseTo(4.8);
    expect(scene.states[1].y).toBeCloseTo(2.4);
  });

  it('never moves what is drawn when a state is added, as long as nothing folds', () => {
    for (let seed = 1; seed <= 40; seed++) {
      const { rows, trees } = madeUp(300, seed);
      const whole = layoutForest(rows, trees, { fold: false });
      const place = (n: number) => layoutForest(rows.slice(0, n), trees, { fold: false }).states.map((s) => [s.lane, s.y, s.colour, s.leaf]);
      for (const n of [40, 171, 299]) expect(place(n)).toEqual(whole.states.slice(0, n).map((s) => [s.lane, s.y, s.colour, s.leaf]));
    }
  });

  it('puts the answer under way where its state will be', () => {
    const { rows, trees } = madeUp(120, 3);
    const before = layoutForest(rows.slice(0, 119), trees, { growing: { parent: rows[119].parent, label: '' } });
    const after = layoutForest(rows, trees);
    expect(before.states[before.byId.get(GROWING) as number].lane).toBe(after.states[119].lane);
  });

  it('begins a day where its first turn is', () => {
    const scene = layoutForest([state(1, null), state(2, 1), state(40, 2)], []);
    expect(scene.days.map((d) => d.y)).toEqual([0, ROW.station + ROW.turn]);
  });

  it('counts descendants and finds the path from the root', () => {
    const scene = layoutForest([state(1, null), state(2, 1), state(3, 2), state(4, 2), state(5, null)], []);
    expect(scene.states.map((s) => s.descendants)).toEqual([3, 2, 0, 0, 0]);
    expect(pathTo(scene, 3)).toEqual([0, 1, 3]);
    expect(scene.roots).toEqual([0, 4]);
  });

  it('takes a state whose parent isn’t there for a root', () => {
    expect(layoutForest([state(7, 3), state(8, 7)], []).states.map((s) => s.parent)).toEqual([-1, 0]);
  });

  it('colours what follows a moved state like its new tree', () => {
    const trees = [1, 2].map((root, order) => ({ root, order, topic: `Tree ${root}`, variants: [] }));
    const rows = [state(1, null, { root: 1 }), state(2, null, { root: 2 }), state(3, 2, { root: 2 }), state(4, 3, { root: 1 })];
    expect(layoutForest(rows, trees).states.map((s) => s.colour)).toEqual([0, 1, 1, 1]);
  });

  it('survives a circle that a half-told move makes', () => {
    const scene = layoutForest([state(1, 3), state(2, 1), state(3, 2), state(4, 3)], []);
    expect(scene.states).toHaveLength(4);
    for (const { index } of scene.states) expect(pathTo(scene, index).length).toBeLessThanOrEqual(4);
  });

  it('packs the tidy trees side by side without overlap', () => {
    const { rows, trees } = madeUp(200, 9);
    const scene = layoutForest(rows, trees, { drawing: 'tree' });
    const right = new Map<number, number>();
    let edge = -Infinity;
    for (const root of scene.roots) {
      const xs = scene.states.filter((s) => s.row.root === scene.states[root].row.id).map((s) => s.tree.x);
      expect(Math.min(...xs)).toBeGreaterThan(edge);
      edge = Math.max(...xs);
      right.set(root, edge);
    }
    expect(scene.tree.width).toBeCloseTo(edge);
  });

  it('finds the first row of a window', () => {
    const { rows } = layoutForest(madeUp(100, 2).rows, [], { fold: false });
    for (const y of [0, 10.3, 55]) {
      const at = rowAt(rows, y);
      expect(rows[at].y + rows[at].size / 2).toBeGreaterThan(y);
      if (at) expect(rows[at - 1].y + rows[at - 1].size / 2).toBeLessThanOrEqual(y);
    }
  });

  it('lays out 10,000 states in well under a second', () => {
    const { rows, trees } = madeUp(10_000, 4);
    const start = performance.now();
    layoutForest(rows, trees);
    expect(performance.now() - start).toBeLessThan(900);
  });
});
