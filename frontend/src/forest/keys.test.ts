import { describe, expect, it } from 'vitest';
import { nextFocus } from './keys';
import { layoutForest } from './layout';
import { state } from './testing';

// 1 ─ 2 ─ 4, and 3 beside 2; 5 is a tree of its own.
const scene = layoutForest([state(1, null), state(2, 1), state(3, 1), state(4, 2), state(5, null)], []);
const from = (id: number, key: string) => {
  const next = nextFocus(scene, scene.byId.get(id) ?? -1, key);
  return next === null ? null : scene.states[next].row.id;
};

describe('moving with keys', () => {
  it('goes to parent, child and siblings', () => {
    expect([from(4, 'ArrowUp'), from(1, 'ArrowDown'), from(2, 'ArrowRight'), from(3, 'ArrowLeft')]).toEqual([2, 2, 3, 2]);
  });

  it('goes from tree to tree at the roots', () => {
    expect([from(1, 'ArrowRight'), from(5, 'ArrowLeft'), from(5, 'ArrowRight')]).toEqual([5, 1, 5]);
  });

  it('goes back and forth in time', () => {
    expect([from(3, '['), from(3, ']'), from(1, '['), from(5, ']')]).toEqual([2, 4, 1, 5]);
  });

  it('starts at the newest when nothing has the focus', () => {
    expect(from(99, 'ArrowUp')).toBe(5);
  });

  it('leaves other keys alone', () => {
    expect(from(1, 'x')).toBeNull();
  });
});
