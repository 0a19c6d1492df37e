import { describe, expect, it } from 'vitest';
import { median } from './median';

describe('the value in the middle', () => {
  it('is not moved by one that is far out', () => expect([median([1, 900, 2]), median([4, 1, 3, 2]), median([])]).toEqual([2, 2.5, 0]));
});
