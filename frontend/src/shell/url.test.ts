import { describe, expect, it } from 'vitest';
import { initialState } from '../state';
import { readView, writeView } from './url';

describe('the view in the address', () => {
  it('is read as it was written', () => {
    const state = { ...initialState(), selected: 31, inspectedTurn: 7, tab: 'evidence' as const, slot: { key: 'fact5', kind: 'fact' as const, id: 5 }, drawing: 'tree' as const, query: 'oak & ash' };
    expect(readView(writeView(state, { unit: 22, top: 4.5, left: 0 }))).toEqual({
      state: 31, turn: 7, tab: 'evidence', item: { kind: 'fact', id: 5 }, drawing: 'tree', query: 'oak & ash', camera: { unit: 22, top: 4.5, left: 0 },
    });
  });

  it('keeps what is filtered and the moment that is travelled to', () => {
    const filter = { topic: 3, name: 'Bosch & co', from: '2026-03-01', to: '', marks: ['facts', 'unsure'] as const };
    expect(readView(writeView({ ...initialState(), filter, asOf: 0 }, null))).toEqual({ filter, asOf: 0 });
    expect(readView('#only=nonsense&from=yesterday&topic=x')).toEqual({});
  });

  it('is short when nothing is chosen', () => expect(writeView(initialState(), null)).toBe(''));

  it('takes no nonsense', () => expect(readView('#state=1e9&turn=-3&tab=admin&at=1,NaN,2&fact=<b>')).toEqual({}));
});
