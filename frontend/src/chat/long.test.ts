import { describe, expect, it } from 'vitest';
import { headOf } from './long';

describe('a long message', () => {
  it('is only what is long in lines or in characters', () => {
    expect(headOf('Where does the oven go?')).toBeNull();
    expect(headOf('a line\n'.repeat(23) + 'the last')).toBeNull();
    expect(headOf('x'.repeat(1_600))).toBeNull();
    expect(headOf('x'.repeat(1_601))).not.toBeNull();
    expect(headOf('a line\n'.repeat(24) + 'one more')).toBe(Array(7).fill('a line').join('\n'));
  });

  it('is cut between words', () => {
    const text = 'kitchen '.repeat(4_000);
    const head = headOf(text)!;
    expect(head.length).toBeLessThan(481);
    expect(head.endsWith('kitchen')).toBe(true);
    expect(text.startsWith(head)).toBe(true);
  });

  it('is cut at a whole character where words have no blanks', () => {
    expect(headOf('台所'.repeat(2_000))).toBe('台所'.repeat(240));
    const trees = headOf('x' + '🌳'.repeat(2_000))!;
    expect(trees).toBe('x' + '🌳'.repeat(239));
  });
});
