import { describe, expect, it } from 'vitest';
import css from '../theme.css?raw';
import { colourOf, leafOf, LEAVES } from './leaves';

const [light, dark] = [css.slice(css.indexOf(':root {')), css.slice(css.indexOf(":root[data-theme='dark']"))];
const token = (theme: string, name: string): string => new RegExp(`--${name}: (#[0-9a-f]{6})`).exec(theme)?.[1] ?? '';

function luminance(hex: string): number {
  const [r, g, b] = [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
const contrast = (a: string, b: string): number => {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
};

describe('a tree’s colour and leaf', () => {
  it('come back as a pair only after 144 trees', () => {
    const pairs = Array.from({ length: 145 }, (_, order) => `${colourOf(order)} ${leafOf(order)}`);
    expect(new Set(pairs.slice(0, 144)).size).toBe(144);
    expect(pairs[144]).toBe(pairs[0]);
    expect(pairs[12]).toBe('0 1');
  });

  it('are twelve outlines within a box of 24', () => {
    expect(LEAVES).toHaveLength(12);
    for (const { path } of LEAVES) expect(path).toMatch(/^M[\d\s.,MmLlCcAaHhVvSsZz-]+$/);
  });
});

describe('the palette', () => {
  it.each([['light', light], ['dark', dark]])('holds its contrast in %s', (_, theme) => {
    for (const ground of ['paper', 'leaf', 'sunk']) {
      for (const ink of ['ink', 'ink2', 'ink3', 'moss']) expect(contrast(token(theme, ink), token(theme, ground))).toBeGreaterThanOrEqual(4.5);
    }
    for (const [ink, ground] of [['sun', 'sunbg'], ['clay', 'claybg'], ['moss', 'mossbg'], ['onmoss', 'moss']]) expect(contrast(token(theme, ink), token(theme, ground))).toBeGreaterThanOrEqual(4.5);
    for (let lane = 1; lane <= 12; lane++) expect(contrast(token(theme, `lane-${lane}`), token(theme, 'paper'))).toBeGreaterThanOrEqual(3);
  });
});
