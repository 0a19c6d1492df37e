import { describe, expect, it } from 'vitest';
import { state } from '../forest/testing';
import type { Job, MovePreview, Proposal, StateRow } from '../types';
import { branchOf, gotOn, isStalled, lookedAt, proposalsOf, targetsOf, tickedAtFirst } from './correcting';
import { consequences, nothingToMove } from './words';

const rows = new Map([state(1, null), state(2, 1), state(3, 1), state(4, 3), state(5, null)].map((row) => [row.id, row as StateRow]));

describe('a place to move to', () => {
  it('is any earlier turn but the one it is under', () => {
    expect([...targetsOf(rows, { purpose: 'move', state: 4 })]).toEqual([1, 2]);
    expect([...targetsOf(rows, { purpose: 'move', state: 1 })]).toEqual([]);
  });

  it('is any earlier turn but the one it went to, when places are compared', () => {
    expect([...targetsOf(rows, { purpose: 'compare', turn: 5, state: 5 })]).toEqual([1, 2, 3, 4]);
    expect([...targetsOf(rows, { purpose: 'compare', turn: 9, state: null })]).toEqual([1, 2, 3, 4, 5]);
  });

  it('takes along everything below', () => {
    expect([...branchOf(rows, 3)].sort()).toEqual([3, 4]);
    expect(branchOf(rows, 1).size).toBe(4);
  });
});

describe('what a move does', () => {
  const moved = (more: Partial<MovePreview>): MovePreview => ({ counts: { states: 1, used_by: 0 }, used_by: [], trees: [], evidence: 0, later: 0, ...more });

  it('is said in sentences, and only what happens', () => {
    expect(consequences(moved({}), 1)).toEqual(['Only this turn moves; nothing follows it.']);
    const trees = ['Kitchen', 'Bread', 'Cello'].map((topic, order) => ({ root: order, order, topic, variants: [] }));
    const told = consequences(moved({ counts: { states: 3, used_by: 0 }, trees, evidence: 1, later: 2 }), 3);
    expect(told[0]).toBe('3 turns move: this one and what follows it.');
    expect(told[1]).toBe('“Kitchen”, “Bread” and 1 more topic get a new summary.');
    expect(told[2]).toContain('1 fact or value is compared anew');
    expect(told[3]).toContain('they don’t move by themselves');
    expect(consequences(moved({ trees: trees.slice(0, 1) }), 1)[1]).toBe('“Kitchen” gets a new summary.');
  });
});

describe('later turns looked at again', () => {
  const proposal = (id: number, unsure: boolean): Proposal => ({ state: id, label: `Turn ${id}`, from: 1, to: 2, from_label: 'a', to_label: 'b', probability: 0.9, unsure });
  const job = (result: Job['result']): Job => ({ id: 1, kind: 'replay', status: 'done', done: 2, total: 2, message: '', forest: 1, error: null, import: null, result });

  it('are proposed by the job, the sure ones ticked', () => {
    const done = job({ proposals: [proposal(4, false), proposal(5, true)], looked_at: 7 });
    expect(proposalsOf(done).map((one) => one.state)).toEqual([4, 5]);
    expect(lookedAt(done)).toBe(7);
    expect([...tickedAtFirst(proposalsOf(done))]).toEqual([4]);
  });

  it('may all be where they belong', () =>
    expect([0, 1, 2, 7].map(nothingToMove).map((words) => words.split(' ')[0])).toEqual(['There', 'The', 'Both', 'All']));

  it('have stalled when nothing is heard of the job for a while', () => {
    const open = { ...job(null), status: 'running' as const };
    const replaying = { after: 1, job: open, movedAt: 1_000, chosen: new Set<number>(), doing: false, trouble: null };
    expect([isStalled(replaying, 15_000), isStalled(replaying, 22_000)]).toEqual([false, true]);
    expect(isStalled({ ...replaying, job: job(null) }, 22_000), 'one that ended has not').toBe(false);
    expect([gotOn(null, open), gotOn(open, { ...open }), gotOn(open, { ...open, done: 3 }), gotOn(open, { ...open, message: 'Localizing' })]).toEqual([true, false, true, true]);
  });

  it('are none while it runs', () => {
    expect(proposalsOf(null)).toEqual([]);
    expect(proposalsOf(job(null))).toEqual([]);
  });
});
