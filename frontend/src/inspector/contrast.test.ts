// @vitest-environment happy-dom
import { render } from 'lit-html';
import { describe, expect, it } from 'vitest';
import type { TraceDecision } from '../types';
import { partColour } from './bars';
import { contrastView } from './contrast';

const PARTS = ['meaning', 'words', 'names', 'reply', 'path', 'cue', 'recency'].map((key) => ({ key, label: key }));

function shown(contrast: TraceDecision['contrast'], more: Partial<TraceDecision> = {}): HTMLElement {
  const box = document.createElement('div');
  render(contrastView({
    method: 'recall', chosen: 1, root: 1, probability: 0.8, margin: 0.6, unsure: false, threshold: 0, why: '', corrected_by: null, corrected_at: null, corrected_from: null,
    parts: PARTS, candidates: [], next: { state: 2, label: 'Talk' }, contrast, ...more,
  }), box);
  return box;
}
const ANSWERS = { key: 'reply', label: 'Left open', by: 2, words: 'it answers “How high is the ceiling?”' };
const LAST = { key: 'recency', label: 'Recency', by: -0.5, words: 'that was the last matter spoken about' };
const words = (node: Element | null) => node?.textContent?.replace(/\s+/g, ' ').trim();

describe('why this place and not the next', () => {
  it('says part by part what spoke for either', () => {
    const box = shown([ANSWERS, LAST]);
    expect(words(box.querySelector('h3'))).toBe('Why this place and not the next');
    expect([...box.querySelectorAll('li p')].map(words)).toEqual([
      'Left open: it answers “How high is the ceiling?”', 'Recency: for the next, that was the last matter spoken about',
    ]);
  });

  it('leans to the right for the place taken, hatched to the left for the next, as long as it weighs', () => {
    const [first, second] = [...shown([ANSWERS, LAST]).querySelectorAll('li svg')];
    const middle = Number(first!.querySelector('line')!.getAttribute('x1'));
    const [longest] = [...first!.querySelectorAll('rect')];
    const [short, hatched] = [...second!.querySelectorAll('rect')];
    expect(Number(longest!.getAttribute('x'))).toBeGreaterThan(middle);
    expect(Number(short!.getAttribute('x')) + Number(short!.getAttribute('width'))).toBeLessThan(middle);
    expect(Number(longest!.getAttribute('width'))).toBeCloseTo(4 * Number(short!.getAttribute('width')));
    expect(first!.querySelectorAll('rect')).toHaveLength(1);
    expect(hatched!.getAttribute('fill')).toBe('url(#hatch)');
  });

  it('has the whole room where nothing speaks for the other', () => {
    const [line, rect] = ['line', 'rect'].map((name) => shown([ANSWERS]).querySelector(`li svg ${name}`)!);
    expect([line!.getAttribute('x1'), rect!.getAttribute('x')]).toEqual(['0', '1']);
    expect(Number(rect!.getAttribute('width'))).toBeGreaterThan(70);
  });

  it('calls a new topic by its name on either side', () => {
    expect(words(shown([ANSWERS], { next: { state: null, label: 'A new topic' } }).querySelector('h3'))).toBe('Why this place and not a new topic');
    expect(words(shown([LAST], { chosen: null }).querySelector('h3'))).toBe('Why a new topic and not the next');
  });

  it('says so where the wording decided, and shows nothing where nothing is weighed', () => {
    expect(words(shown([ANSWERS], { method: 'continuation' }).querySelector('p'))).toBe('Its wording decided. By the score alone:');
    expect(shown([]).children).toHaveLength(0);
  });

  it('shows what is quoted as text', () => {
    const box = shown([{ ...ANSWERS, words: 'it answers “<img src=x onerror=alert(1)>?”' }]);
    expect(box.querySelector('img')).toBeNull();
    expect(words(box.querySelector('li p'))).toContain('<img src=x');
  });
});

describe('the colours of parts', () => {
  it('are seven, and keep to their part wherever it stands', () => {
    expect(new Set(PARTS.map(({ key }, place) => partColour(key, place))).size).toBe(7);
    expect(partColour('recency', 0)).toBe(partColour('recency', 6));
    expect(partColour('of_another_ranker', 9)).toBeLessThanOrEqual(7);
  });
});
