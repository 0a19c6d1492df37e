import { describe, expect, it } from 'vitest';
import { layoutForest } from './layout';
import { isFaint, marksOf, noMarks, type Wanted } from './marks';
import { state } from './testing';
import { rankOf, tagOf } from './words';

const rows = [state(1, null), state(2, 1, { pending: true }), state(3, 2, { list: 12 }), state(4, 3, { replaced: true, unsure: true })];
const scene = layoutForest(rows, []);
const wanted: Wanted = { active: null, selected: null, focused: null, localized: null, found: null, asOf: null, picking: null, aim: null };
const marked = (more: Partial<Wanted>) => marksOf(scene, { ...wanted, ...more }, noMarks());

describe('marks', () => {
  it('shows at most five candidates, each of at least one percent', () => {
    const candidates = [0.9, 0.05, 0.009, 0.02].map((probability, i) => ({ state: i + 1, root: 1, probability, label: '' }));
    const marks = marked({ localized: { path: [1, 2], candidates: [...candidates, { state: null, root: null, probability: 0.3, label: '' }], second: null } });
    expect([...marks.glows.keys()]).toEqual([0, 1, 3]);
    expect([...marks.onPath]).toEqual([0, 1]);
  });

  it('forgets ids that aren’t there', () => {
    const marks = marked({ selected: 99, localized: { path: [98, 1], candidates: [], second: 97 } });
    expect([marks.selected, marks.path, marks.second]).toEqual([-1, [0], -1]);
  });

  it('dims what isn’t a hit, and what comes after “as of”', () => {
    expect(scene.states.map((s) => isFaint(marked({ found: new Set([2]) }), scene, s.index))).toEqual([true, false, true, true]);
    expect(scene.states.map((s) => isFaint(marked({ asOf: 2 }), scene, s.index))).toEqual([false, false, true, true]);
  });

  it('lights where a state may go, and only there takes aim', () => {
    const picking = { state: 4, targets: new Set([1, 2]) };
    const marks = marked({ picking, aim: 2, asOf: 1 });
    expect(scene.states.map((s) => isFaint(marks, scene, s.index))).toEqual([false, false, true, false]);
    expect([marks.lifted, marks.aim]).toEqual([3, 1]);
    expect(marked({ picking, aim: 3 }).aim).toBe(-1);
    expect(marked({ aim: 2 }).aim).toBe(-1);
  });

  it('says the word that matters most', () => {
    const marks = marked({ localized: { path: [], candidates: [{ state: 3, root: 1, probability: 0.914, label: '' }], second: null } });
    expect(scene.states.map((s) => tagOf(s, marks)?.text.replace(/\s/g, ' '))).toEqual([undefined, 'remembering', '91 %', 'unsure']);
    expect(scene.states.map((s) => rankOf(s, marks))).toEqual([1, 5, 3, 4]);
  });
});
