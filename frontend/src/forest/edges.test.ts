import { path } from 'd3-path';
import { describe, expect, it } from 'vitest';
import { bend, edge, edgeWidth } from './edges';

const drawn = (x0: number, y0: number, x1: number, y1: number, unit: number): string => {
  const sink = path();
  edge(sink, x0, y0, x1, y1, unit);
  return sink.toString();
};

describe('edges', () => {
  it('leaves the parent downward and ends straight on the child’s lane', () => {
    expect(drawn(0, 0, 20, 100, 10)).toBe('M0,0C0,13.64,20,8.36,20,22L20,100');
  });

  it('is a line on the same lane', () => {
    expect(drawn(5, 0, 5, 30, 10)).toBe('M5,0L5,30');
  });

  it('bends over at most the whole way down', () => {
    expect(bend(0, 0, 200, 50, 10)).toBe(50);
    expect(bend(0, 0, 200, 500, 10)).toBe(180);
    expect(bend(0, 0, 10, 500, 10)).toBe(22);
    expect(drawn(0, 0, 200, 50, 10)).toBe('M0,0C0,31,200,19,200,50');
  });

  it('is thick at the root and thin at the tip', () => {
    expect(edgeWidth(0)).toBe(1.5);
    expect(edgeWidth(1)).toBeCloseTo(1.86);
    expect(edgeWidth(1000)).toBeLessThan(5.2);
  });
});
