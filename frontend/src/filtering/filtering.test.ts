import { describe, expect, it } from 'vitest';
import { state } from '../forest/testing';
import type { StateRow } from '../types';
import { noFilter, passing, readFilter, strength, writeFilter, type Filter } from './filtering';

const rows = [
  state(1, null, { root: 1, time: '2026-03-01T23:30:00Z', facts: 2, entities: ['Bosch'] }),
  state(2, 1, { root: 1, time: '2026-03-02T10:00:00Z', unsure: true, moved_from: 5 }),
  state(3, null, { root: 3, time: '2026-03-05T10:00:00Z', facts: 1, pending: true, replaced: true, entities: ['Nora', 'Lyon'] }),
] as StateRow[];
const filter = (part: Partial<Filter>): Filter => ({ ...noFilter(), ...part });
const found = (part: Partial<Filter>, zone = 'UTC') => [...(passing(rows, filter(part), zone) ?? [])];

describe('filters', () => {
  it('show everything when nothing is asked for', () => expect(passing(rows, noFilter(), 'UTC')).toBeNull());

  it('take topic, name and marks together', () => {
    expect(found({ topic: 1 })).toEqual([1, 2]);
    expect(found({ name: 'lyo' })).toEqual([3]);
    expect(found({ marks: ['facts'] })).toEqual([1, 3]);
    expect(found({ marks: ['facts', 'pending', 'replaced'] })).toEqual([3]);
    expect(found({ topic: 1, marks: ['unsure', 'moved'] })).toEqual([2]);
  });

  it('count days in the forest’s zone, both ends included', () => {
    expect(found({ from: '2026-03-02', to: '2026-03-02' })).toEqual([2]);
    expect(found({ from: '2026-03-02', to: '2026-03-02' }, 'Europe/Vienna')).toEqual([1, 2]);
  });

  it('come back from the address as they went', () => {
    const asked = filter({ topic: 3, name: 'Nora & co', from: '2026-03-01', marks: ['moved', 'pending'] });
    const params = new URLSearchParams();
    writeFilter(asked, params);
    expect(readFilter(new URLSearchParams(params.toString()))).toEqual(asked);
    expect(strength(asked)).toBe(5);
    expect(readFilter(new URLSearchParams('topic=-1&from=soon&only=all,facts'))).toEqual(filter({ marks: ['facts'] }));
  });
});
