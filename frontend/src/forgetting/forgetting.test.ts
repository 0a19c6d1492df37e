import { describe, expect, it } from 'vitest';
import type { Forgotten } from '../types';
import { forgettingOf, mayDelete, requestOf } from './forgetting';
import { bare, countsWords, rebuiltWords } from './words';

const preview: Forgotten = { preview: true, counts: {}, rebuilt: { summaries: 0, topics: 0 }, stays: [], restored: [], used_by: [], quoted_by: [] };
const here = { status: 'here', value: preview } as const;

describe('deleting for good', () => {
  it('asks with what was chosen', () => {
    const turn = { ...forgettingOf({ kind: 'state', id: 7, text: 'x' }), mode: 'with_children' as const, redact: true };
    expect(requestOf(turn, true)).toEqual({ path: 'states/7/', params: { preview: 1, mode: 'with_children', redact: 1 } });
    expect(requestOf(forgettingOf({ kind: 'event', id: 3, text: 'x' }), false)).toEqual({ path: 'items/event/3/', params: { preview: null, redact: null } });
    expect(requestOf(forgettingOf({ kind: 'account', text: 'ines' }), true)).toEqual({ path: 'me/', params: { preview: 1 } });
  });

  it('waits until it is known what goes', () => {
    const fact = forgettingOf({ kind: 'fact', id: 1, text: 'x' });
    expect(mayDelete(fact)).toBe(false);
    expect(mayDelete({ ...fact, preview: here })).toBe(true);
    expect(mayDelete({ ...fact, preview: here, doing: true })).toBe(false);
  });

  it('wants the name written for a whole forest and an account only', () => {
    const forest = { ...forgettingOf({ kind: 'forest', id: 1, text: 'Home' }), preview: here };
    expect(mayDelete(forest)).toBe(false);
    expect(mayDelete({ ...forest, typed: 'home' })).toBe(false);
    expect(mayDelete({ ...forest, typed: ' Home ' })).toBe(true);
    expect(mayDelete({ ...forgettingOf({ kind: 'state', id: 1, text: 'x' }), preview: here })).toBe(true);
  });

  it('is said in words, a turn and its state once', () => {
    expect(countsWords({ states: 2, turns: 2, facts: 1, records: 0, used_by: 4 })).toBe('2 turns and 1 fact');
    expect(countsWords({ states: 1, facts: 3, records: 2 })).toBe('1 turn, 3 facts and 2 lists, events and values');
    expect(countsWords({})).toBe('');
    expect(bare('**Oven** `x` stays.')).toBe('Oven x stays.');
    expect(rebuiltWords({ summaries: 1, topics: 2 })).toBe('1 summary and 2 topic names');
  });
});
