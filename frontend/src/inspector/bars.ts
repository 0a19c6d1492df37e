/** The small drawings of the inspector, as SVG with attributes only. */

import { html, nothing, svg, type TemplateResult } from 'lit-html';

const GAP = 1.5;
const HEIGHT = 10;
/** A turn counts as placed for sure from here on. */
export const SURE = 0.9;

export interface Part {
  label: string;
  value: number;
  /** Which of the seven part colours. */
  colour: number;
}

/** Each part of a score has a colour of its own; those of another ranker take them in turn. */
const COLOURS: Record<string, number> = { meaning: 1, words: 2, names: 6, reply: 7, path: 3, cue: 4, recency: 5 };
export const partColour = (key: string, place: number): number => COLOURS[key] ?? (Math.max(0, place) % 7) + 1;

/** How score parts become pixels. */
export interface Scale {
  perUnit: number;
  zero: number;
  close: boolean;
}

const PER_UNIT = 46;
const PER_UNIT_CLOSE = 62;
/** Bars wider than this leave room for the scores in numbers. */
const CLOSE_UP = 420;

/** Pixels per unit of score and where zero is, so that the widest bar fits. */
export function scaleOf(candidates: readonly { parts: Record<string, number> }[], room: number): Scale {
  const sums = candidates.map((candidate) => {
    const values = Object.values(candidate.parts);
    return { up: values.filter((v) => v > 0).reduce((a, b) => a + b, 0), down: -values.filter((v) => v < 0).reduce((a, b) => a + b, 0) };
  });
  const up = Math.max(0.1, ...sums.map((sum) => sum.up));
  const down = Math.max(0, ...sums.map((sum) => sum.down));
  const close = room > CLOSE_UP;
  const perUnit = Math.min(close ? PER_UNIT_CLOSE : PER_UNIT, room / (up + down));
  return { perUnit, zero: down * perUnit, close };
}

/** Parts of a score side by side, positive ones to the right of zero, negative ones hatched to its left. */
export function scoreBar(parts: Part[], perUnit: number, zero: number): TemplateResult {
  let right = zero;
  let left = zero;
  const rects = parts.filter((part) => Math.abs(part.value) * perUnit >= 1).map((part) => {
    const width = Math.abs(part.value) * perUnit;
    const x = part.value > 0 ? right : left - width;
    if (part.value > 0) right += width;
    else left -= width;
    const title = `${part.label} ${part.value.toFixed(2)}`;
    const box = svg`<rect class="part-${part.colour}" x=${x} y="0" width=${Math.max(1, width - GAP)} height=${HEIGHT} rx="2"><title>${title}</title></rect>`;
    return part.value > 0 ? box : svg`<g>${box}<rect x=${x} y="0" width=${Math.max(1, width - GAP)} height=${HEIGHT} fill="url(#hatch)"/></g>`;
  });
  const words = parts.map((part) => `${part.label} ${part.value.toFixed(2)}`).join(', ');
  return html`<svg class="score" width="100%" height=${HEIGHT} role="img" aria-label=${`Score parts: ${words}`}>
    ${zero > 0 ? svg`<line class="zero" x1=${zero - GAP / 2} x2=${zero - GAP / 2} y1="0" y2=${HEIGHT}/>` : nothing}${rects}</svg>`;
}

/** The chance of a place on a track of its own, with a tick where "sure" begins. */
export const chance = (probability: number, winner: boolean, tick: boolean): TemplateResult => html`<svg class="chance" width="100%" height="10" aria-hidden="true">
  <rect class="track" x="0" y="3" width="100%" height="4" rx="2"/>
  <rect class=${winner ? 'won' : 'lost'} x="0" y="3" width=${`${Math.max(0.8, probability * 100)}%`} height="4" rx="2"/>
  ${tick ? svg`<rect class="tick" x=${`${SURE * 100}%`} y="0" width="2" height="10"/>` : nothing}</svg>`;

/** Shares of a whole, one after the other. Gaps are strokes in the ground's colour. */
export function shareBar(parts: Part[], label: string): TemplateResult {
  const total = parts.reduce((sum, part) => sum + part.value, 0) || 1;
  let at = 0;
  return html`<svg class="shares" width="100%" height="12" role="img" aria-label=${label}>${parts.map((part) => {
    const share = (part.value / total) * 100;
    const rect = svg`<rect class="part-${part.colour}" x=${`${at}%`} y="0" width=${`${share}%`} height="12"><title>${`${part.label}: ${part.value}`}</title></rect>`;
    at += share;
    return rect;
  })}</svg>`;
}

/** One share against the largest. */
export const rowBar = (value: number, largest: number, colour: number): TemplateResult => html`<svg class="row-bar" width="100%" height="8" aria-hidden="true">
  <rect class="part-${colour}" x="0" y="0" width=${`${Math.max(1.5, (value / (largest || 1)) * 100)}%`} height="8" rx="4"/></svg>`;

/** The hatching of negative parts, once a page. */
export const hatch = html`<svg class="defs" width="0" height="0" aria-hidden="true"><defs>
  <pattern id="hatch" width="4" height="4" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="hatching" width="1.6" height="4"/></pattern></defs></svg>`;
