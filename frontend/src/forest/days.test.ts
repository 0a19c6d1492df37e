import { describe, expect, it } from 'vitest';
import { dayInWords, dayOf, isOpen, rangeWords, RowDays } from './days';
import { layoutForest } from './layout';
import { state } from './testing';

/** Days of March on which one turn after the other was said. */
const forest = (...days: number[]) => days.map((day, i) => state(i + 1, i ? i : null, { root: 1, time: `2026-03-${String(day).padStart(2, '0')}T12:00:00Z` }));
const rows = (...days: number[]) => new RowDays(layoutForest(forest(...days), [], { fold: false }));
/** The middle of a turn's row, in row units. */
const middle = (days: RowDays, turn: number) => days.scene.states[turn - 1].y;
const OPEN = { from: '', to: '' };

describe('a day', () => {
  it('is that of the forest’s zone, over midnight and a change of the clock', () => {
    expect(dayOf('2026-03-01T23:30:00Z', 'UTC')).toBe('2026-03-01');
    expect(dayOf('2026-03-01T23:30:00Z', 'Europe/Vienna')).toBe('2026-03-02');
    expect(dayOf('2026-03-29T21:59:00Z', 'Europe/Vienna')).toBe('2026-03-29');
    expect(dayOf('2026-03-29T22:00:00Z', 'Europe/Vienna')).toBe('2026-03-30');
    expect(dayOf('2026-03-01T18:14:00Z', 'Asia/Kathmandu')).toBe('2026-03-01');
    expect(dayOf('2026-03-01T18:15:00Z', 'Asia/Kathmandu')).toBe('2026-03-02');
    expect(dayOf('2026-03-01T10:30:00Z', 'Pacific/Kiritimati')).toBe('2026-03-02');
  });

  it('is UTC’s where the zone isn’t known, and none where there is no moment', () => {
    expect(dayOf('2026-03-01T23:30:00Z', 'Mars/Olympus')).toBe('2026-03-01');
    expect(dayOf('', 'UTC')).toBe('');
  });

  it('begins a line of the drawing in that zone', () => {
    const late = [state(1, null, { time: '2026-03-01T22:30:00Z' }), state(2, 1, { time: '2026-03-01T23:30:00Z' })];
    expect(layoutForest(late, [], { zone: 'UTC' }).days).toHaveLength(1);
    expect(layoutForest(late, [], { zone: 'Europe/Vienna' }).days).toHaveLength(2);
  });
});

describe('days on the strip', () => {
  const days = rows(2, 2, 3, 5, 5, 9);

  it('are those of the rows a hand passed, whole', () => {
    expect(days.between(middle(days, 3), middle(days, 4))).toEqual({ from: '2026-03-03', to: '2026-03-05' });
    expect(days.between(middle(days, 4), middle(days, 3)), 'upwards too').toEqual({ from: '2026-03-03', to: '2026-03-05' });
    expect(days.extent({ from: '2026-03-03', to: '2026-03-05' })).toEqual([middle(days, 3) - 0.5, middle(days, 5) + 0.5]);
    expect(days.between(90, 99)).toBeNull();
  });

  it('are open at the first and at the last', () => {
    expect(days.between(middle(days, 1), middle(days, 3))).toEqual({ from: '', to: '2026-03-03' });
    expect(days.between(middle(days, 4), middle(days, 6))).toEqual({ from: '2026-03-05', to: '' });
    expect(isOpen(days.between(0, 99) ?? { from: 'x', to: 'x' })).toBe(true);
    expect(days.extent(OPEN)).toEqual([0, days.scene.height]);
  });

  it('move at one end, and no further than to the other', () => {
    const range = { from: '2026-03-03', to: '2026-03-05' };
    expect(days.moved('from', middle(days, 5), range)).toEqual({ from: '2026-03-05', to: '2026-03-05' });
    expect(days.moved('from', 99, range)).toEqual({ from: '2026-03-05', to: '2026-03-05' });
    expect(days.moved('to', -9, range)).toEqual({ from: '2026-03-03', to: '2026-03-03' });
    expect(days.moved('to', 99, range)).toEqual({ from: '2026-03-03', to: '' });
  });

  it('move as a whole, as many as they were', () => {
    const range = { from: '2026-03-03', to: '2026-03-05' };
    expect(days.shifted(0, range)).toEqual({ from: '', to: '2026-03-03' });
    expect(days.shifted(99, range)).toEqual({ from: '2026-03-05', to: '' });
  });

  it('step by key from one day with turns to the next', () => {
    expect(days.stepped('from', 1, OPEN)).toEqual({ from: '2026-03-03', to: '' });
    expect(days.stepped('from', 1, { from: '2026-03-03', to: '' })).toEqual({ from: '2026-03-05', to: '' });
    expect(days.stepped('to', -1, OPEN)).toEqual({ from: '', to: '2026-03-05' });
    expect(days.stepped('to', -Infinity, { from: '2026-03-03', to: '' })).toEqual({ from: '2026-03-03', to: '2026-03-03' });
    expect(days.stepped('from', -Infinity, { from: '2026-03-03', to: '' })).toEqual(OPEN);
  });

  it('cover nothing outside: the rest is veiled', () => {
    expect(days.outside(OPEN)).toEqual([]);
    const [before, after] = days.outside({ from: '2026-03-03', to: '2026-03-05' });
    expect(before).toEqual([0, middle(days, 3) - 0.5]);
    expect(after).toEqual([middle(days, 5) + 0.5, days.scene.height]);
  });

  it('hold where a date field says a day without turns', () => {
    expect(days.ends({ from: '2026-03-04', to: '2026-03-08' })).toEqual({ from: 2, to: 2 });
    expect(days.extent({ from: '2026-03-04', to: '2026-03-04' })).toEqual([middle(days, 4) - 0.5, middle(days, 4) - 0.5]);
    expect(days.extent({ from: '2030-01-01', to: '' })).toEqual([days.scene.height, days.scene.height]);
    expect(days.stepped('to', 1, { from: '2020-01-01', to: '2026-03-04' })).toEqual({ from: '2020-01-01', to: '2026-03-05' });
  });

  it('may stand in any order, as an import leaves them', () => {
    const mixed = rows(7, 8, 1, 2, 9);
    expect(mixed.between(middle(mixed, 2), middle(mixed, 3))).toEqual({ from: '', to: '2026-03-08' });
    expect(mixed.outside({ from: '2026-03-07', to: '2026-03-08' })).toEqual([[middle(mixed, 2) + 0.5, mixed.scene.height]]);
    expect(mixed.extent({ from: '', to: '2026-03-02' })).toEqual([0, middle(mixed, 4) + 0.5]);
  });

  it('are all those of a run that is folded', () => {
    const line = Array.from({ length: 40 }, (_, i) => state(i + 1, i || null, { root: 1, time: new Date(Date.UTC(2026, 2, 1 + i, 12)).toISOString() }));
    const folded = new RowDays(layoutForest(line, []));
    expect(folded.scene.folds.length).toBeGreaterThan(0);
    const run = folded.scene.folds[0].ids;
    const y = folded.scene.states[run[0] - 1].y;
    expect(folded.between(y, y)).toEqual({ from: dayOf(line[run[0] - 1].time, 'UTC'), to: dayOf(line[run.at(-1)! - 1].time, 'UTC') });
    expect(folded.days).toHaveLength(40);
  });
});

describe('a range in words', () => {
  it('is short, with the year when it is another', () => {
    expect(rangeWords({ from: '2026-03-03', to: '2026-03-09' }, '2026')).toMatch(/^3\s?–\s?9 Mar$/);
    expect(rangeWords({ from: '2026-03-03', to: '2026-03-03' }, '2026')).toBe('3 Mar');
    expect(rangeWords({ from: '2026-03-03', to: '' }, '2026')).toBe('from 3 Mar');
    expect(rangeWords({ from: '', to: '2025-03-09' }, '2026')).toBe('until 9 Mar 2025');
    expect(rangeWords(OPEN, '2026')).toBe('all days');
    expect(dayInWords('2026-03-03')).toBe('Tuesday 3 March 2026');
  });
});
