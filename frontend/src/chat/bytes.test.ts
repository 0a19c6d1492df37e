import { describe, expect, it } from 'vitest';
import { isNear, sizeWords, utf8Bytes } from './bytes';

describe('the size of a turn', () => {
  it('is counted in bytes of UTF-8, as the server does', () => {
    expect(utf8Bytes('kitchen')).toBe(7);
    expect(utf8Bytes('Küche')).toBe(6);
    expect(utf8Bytes('台所')).toBe(6);
    expect(utf8Bytes('🌳')).toBe(4);
  });

  it('is mentioned only near the limit', () => {
    expect(isNear(28_671, 32_768)).toBe(false);
    expect(isNear(28_672, 32_768)).toBe(true);
  });

  it('says what to do past it', () => {
    expect(sizeWords(30_000, 32_768)).toBe('29.3 of 32 KiB');
    expect(sizeWords(32_769, 32_768)).toContain('Shorten it');
  });
});
