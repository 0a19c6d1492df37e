import { describe, expect, it } from 'vitest';
import { lead, wordDiff, words, type Run } from './diff';

const text = (runs: Run[], without: Run['change']) => runs.filter((run) => run.change !== without).map((run) => run.text).join('');
const of = (runs: Run[], change: Run['change']) => runs.filter((run) => run.change === change).map((run) => run.text);

describe('word diff', () => {
  it('marks whole amounts and words', () => {
    const runs = wordDiff('The kitchen budget is €18,000, appliances included.', 'The kitchen budget is €21,500, appliances apart.');
    expect(of(runs, 'gone')).toEqual(['€18,000', 'included']);
    expect(of(runs, 'new')).toEqual(['€21,500', 'apart']);
  });

  it('marks an added phrase as one', () => {
    expect(of(wordDiff('It is €21,500, appliances apart.', 'It is €21,500, appliances apart, worktop included.'), 'new')).toEqual([', worktop included']);
    expect(lead(', worktop included')).toEqual([', ', 'worktop included']);
    expect(lead(', ')).toEqual(['', ', ']);
  });

  it('cuts scripts without spaces into words', () => {
    expect(words('台所の予算').length).toBeGreaterThan(1);
    const runs = wordDiff('予算は18000ユーロです', '予算は21500ユーロです');
    expect(of(runs, 'new').join('')).toContain('21500');
    expect(of(runs, 'same').join('')).toContain('予算');
  });

  it.each([
    ['', 'new'], ['old', ''], ['same', 'same'], ['a b c', 'c b a'], ['Leaves on 9 March, coach 8.', 'Leaves on 12 March instead.'], ['🌳 oak', 'oak 🌳🌳'],
  ])('loses nothing between %j and %j', (before, after) => {
    const runs = wordDiff(before, after);
    expect(text(runs, 'new')).toBe(before);
    expect(text(runs, 'gone')).toBe(after);
  });
});
