import { describe, expect, it } from 'vitest';
import { assignBands, assignLanes, LaneTable, SILENCE } from './lanes';
import { madeUp, state } from './testing';

describe('assigning lanes', () => {
  it('keeps the first child on its parent’s lane and puts the next one right of it', () => {
    expect(assignLanes([state(1, null), state(2, 1), state(3, 1)])).toEqual([0, 0, 1]);
  });

  it('leaves room right of a root for its first branch', () => {
    expect(assignLanes([state(1, null), state(2, null)])).toEqual([0, 1]);
    // Lane 1 is free again, but lane 2 is still in use.
    const rows = [state(1, null), state(2, null), state(3, null)];
    for (let id = 4; id < 60; id++) rows.push(state(id, id === 4 ? 3 : id - 1));
    rows.push(state(60, null));
    expect(assignLanes(rows).at(-1)).toBe(0);
  });

  it('frees a lane after forty silent positions, not before', () => {
    const table = new LaneTable(SILENCE.lane);
    table.take(0, 10, 1);
    expect(table.isFree(0, 49)).toBe(false);
    expect(table.isFree(0, 50)).toBe(true);
    expect(table.isFree(0, 50, 10)).toBe(false);
  });

  it('gives a branch a new lane if someone took its old one meanwhile', () => {
    const rows = [state(1, null), state(2, null)];
    for (let id = 3; id <= 50; id++) rows.push(state(id, id === 3 ? 2 : id - 1, { root: 2 }));
    rows.push(state(51, null), state(52, 1));
    const lanes = assignLanes(rows);
    expect(lanes[50]).not.toBe(1);
    if (lanes[50] === 0) expect(lanes[51]).not.toBe(0);
  });

  it('never depends on what comes later: 40 made-up forests of 300 states', () => {
    for (let seed = 1; seed <= 40; seed++) {
      const { rows } = madeUp(300, seed);
      const whole = assignLanes(rows);
      const bands = assignBands(rows);
      for (const n of [1, 2, 50, 150, 299]) {
        expect(assignLanes(rows.slice(0, n))).toEqual(whole.slice(0, n));
        expect(assignBands(rows.slice(0, n))).toEqual(bands.slice(0, n));
      }
    }
  });

  it('never puts a state on a lane between a parent and its child there', () => {
    for (let seed = 1; seed <= 40; seed++) {
      const { rows } = madeUp(300, seed);
      const lanes = assignLanes(rows);
      rows.forEach((row, index) => {
        if (row.parent === null) return;
        // Ids count from 1, so the parent's index is one less; what stands between begins at `row.parent`.
        expect(lanes.slice(row.parent, index)).not.toContain(lanes[index]);
      });
    }
  });
});

describe('assigning bands', () => {
  it('keeps a tree in one band and its branches on twigs of it', () => {
    const bands = assignBands([state(1, null, { root: 1 }), state(2, 1, { root: 1 }), state(3, 1, { root: 1 }), state(4, null, { root: 4 })]);
    expect(bands.map((b) => b.band)).toEqual([0, 0, 0, 1]);
    expect(bands.map((b) => b.twig)).toEqual([0, 0, 1, 0]);
  });
});
