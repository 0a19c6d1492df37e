import { describe, expect, it } from 'vitest';
import { placeLabels, placeNames, PUSH, SPACING, type Wish } from './labels';
import { randomness } from './testing';

describe('placing labels', () => {
  it('leaves a label on its row where there is room', () => {
    expect([...placeLabels([{ key: 1, y: 10, rank: null }, { key: 2, y: 40, rank: 3 }])].sort()).toEqual([[1, 10], [2, 40]]);
  });

  it('pushes two must-haves apart, each as little as can be', () => {
    const placed = placeLabels([{ key: 1, y: 10, rank: 1 }, { key: 2, y: 20, rank: 1 }]);
    expect(placed.get(1)).toBeCloseTo(15 - SPACING / 2);
    expect(placed.get(2)).toBeCloseTo(15 + SPACING / 2);
  });

  it('lets the least important give way when they can’t all fit', () => {
    const placed = placeLabels([0, 2, 4, 6].map((y, i) => ({ key: i, y, rank: i })));
    expect(placed.has(0)).toBe(true);
    expect(placed.has(3)).toBe(false);
  });

  it('gives the rest no room that a must-have needs', () => {
    const placed = placeLabels([{ key: 1, y: 10, rank: 1 }, { key: 2, y: 20, rank: null }]);
    expect([...placed.keys()]).toEqual([1]);
  });

  it('holds the spacing and the push on made-up rows', () => {
    for (let seed = 1; seed <= 30; seed++) {
      const random = randomness(seed);
      const wishes: Wish[] = Array.from({ length: 200 }, (_, key) => ({ key, y: key * 11, rank: random() < 0.3 ? Math.floor(random() * 9) : null }));
      const placed = placeLabels(wishes);
      const ys = [...placed.values()].sort((a, b) => a - b);
      for (let i = 1; i < ys.length; i++) expect(ys[i] - ys[i - 1]).toBeGreaterThanOrEqual(SPACING - 1e-9);
      for (const [key, y] of placed) expect(Math.abs(y - wishes[key].y)).toBeLessThanOrEqual(PUSH + 1e-9);
    }
  });
});

describe('placing names', () => {
  it('lets larger trees choose first and goes left when right is taken', () => {
    const names = [{ key: 1, x: 100, y: 50, width: 60, size: 9 }, { key: 2, x: 190, y: 50, width: 60, size: 3 }];
    const placed = placeNames(names, [], [], 400, 12);
    expect(placed.get(1)?.x).toBe(112);
    expect(placed.get(2)?.x).toBe(202);
    expect(placeNames([...names, { key: 3, x: 180, y: 55, width: 60, size: 1 }], [], [], 400, 12).has(3)).toBe(false);
  });
});
