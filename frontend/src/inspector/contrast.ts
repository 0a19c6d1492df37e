/** *Why this place and not the next*: part by part what spoke for either, on bars that lean to one side or the other. */

import { html, nothing, svg, type TemplateResult } from 'lit-html';
import type { TraceDecision } from '../types';
import { partColour } from './bars';

const WIDTH = 76;
const HEIGHT = 10;

type Difference = TraceDecision['contrast'][number];

/** What decided where it wasn't the score. */
const DECIDED: Record<string, string> = {
  continuation: 'Its wording decided. By the score alone:',
  temporal: 'The time it names decided. By the score alone:',
  asked: 'The language model was asked. By the score alone:',
};

/** Where no score speaks for one side, the other has its room. */
interface Room {
  largest: number;
  middle: number;
  side: number;
}

function roomOf(contrast: readonly Difference[]): Room {
  const [forChosen, forNext] = [contrast.some((one) => one.by > 0), contrast.some((one) => one.by < 0)];
  const middle = !forNext ? 0 : forChosen ? WIDTH / 2 : WIDTH;
  return { largest: Math.max(...contrast.map((one) => Math.abs(one.by))), middle, side: (forChosen && forNext ? WIDTH / 2 : WIDTH) - 1 };
}

/** A bar from the middle: to the right for the place that was chosen, hatched to the left for the next one. */
function leaning(by: number, { largest, middle, side }: Room, colour: number): TemplateResult {
  const width = Math.max(2, (Math.abs(by) / (largest || 1)) * side);
  const x = by > 0 ? middle + 1 : middle - 1 - width;
  return html`<svg class="lean-bar" width=${WIDTH} height=${HEIGHT} aria-hidden="true">
    <rect class="part-${colour}" x=${x} y="0" width=${width} height=${HEIGHT} rx="2"/>
    ${by < 0 ? svg`<rect x=${x} y="0" width=${width} height=${HEIGHT} fill="url(#hatch)"/>` : nothing}
    <line class="zero" x1=${middle} x2=${middle} y1="-4" y2=${HEIGHT + 4}/></svg>`;
}

function row(one: Difference, room: Room, keys: string[], next: string): TemplateResult {
  return html`<li data-testid="difference" data-part=${one.key} data-for=${one.by > 0 ? 'chosen' : 'next'} title=${`${one.by > 0 ? '+' : '−'}${Math.abs(one.by).toFixed(2)} of score`}>
    ${leaning(one.by, room, partColour(one.key, keys.indexOf(one.key)))}
    <p><b>${one.label}:</b> ${one.by > 0 ? nothing : html`<span class="second">for ${next},</span> `}<span dir="auto">${one.words}</span></p></li>`;
}

/** Nothing where a person chose, where there is no other place, or where one was deleted. */
export function contrastView(decision: TraceDecision): TemplateResult | typeof nothing {
  const { contrast, next, chosen } = decision;
  if (!contrast.length || !next) return nothing;
  const room = roomOf(contrast);
  const keys = decision.parts.map((part) => part.key);
  const [here, there] = [chosen === null ? 'a new topic' : 'this place', next.state === null ? 'a new topic' : 'the next'];
  return html`<section class="block contrast" aria-labelledby="contrast" data-testid="contrast">
    <div class="block-head"><h3 id="contrast">Why ${here} and not ${there}</h3>${next.state === null ? nothing : html`<span class="second next-place">next: <bdi>${next.label}</bdi></span>`}</div>
    ${DECIDED[decision.method] ? html`<p class="second">${DECIDED[decision.method]}</p>` : nothing}
    <ul class="leans">${contrast.map((one) => row(one, room, keys, there))}</ul></section>`;
}
