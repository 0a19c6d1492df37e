import { describe, expect, it } from 'vitest';
import { duration, longTime, percent, shortTime } from './time';

const now = new Date('2026-03-12T01:00:00Z');

describe('times', () => {
  it('are those of the forest’s zone, not of the browser', () => {
    expect(shortTime('2026-03-11T23:30:00Z', 'Europe/Berlin', now)).toBe('Today 00:30');
    expect(shortTime('2026-03-11T23:30:00Z', 'America/New_York', now)).toBe('Today 19:30');
    expect(shortTime('2026-03-11T15:30:00Z', 'Asia/Tokyo', now)).toBe('Today 00:30');
    expect(shortTime('2026-03-10T22:30:00Z', 'Europe/Berlin', now)).toBe('Tue 10, 23:30');
    expect(longTime('2025-11-12T12:02:00Z', 'Europe/Berlin', now)).toBe('Wednesday 12 November 2025 13:02');
  });

  it('survive a zone the browser does not know', () => expect(shortTime('2026-03-12T00:30:00Z', 'Mars/Olympus', now)).toBe('Today 00:30'));

  it('and sizes are short', () => {
    expect([duration(17), duration(400), duration(2100)]).toEqual(['17 ms', '0.4 s', '2.1 s']);
    expect([percent(0.91), percent(0.004), percent(0.999), percent(0)]).toEqual(['91 %', '< 1 %', '> 99 %', '0 %']);
  });
});
