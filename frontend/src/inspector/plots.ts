/** Small plots over days, as SVG with attributes only: bars from a base line, or a line between points. */

import { html, nothing, svg, type SVGTemplateResult, type TemplateResult } from 'lit-html';

export interface Point {
  /** What it is called, for the pointer: a day. */
  name: string;
  /** From the bottom up. */
  values: number[];
  /** Its values in words. */
  words: string;
}

interface Plot {
  title: string;
  /** The latest or the whole, in words. */
  now: string;
  points: Point[];
  /** Part colours of the values, from the bottom up. */
  colours: number[];
  /** The upper end, when it isn't the largest value. */
  most?: number;
  line?: boolean;
  /** A level worth seeing. */
  level?: { at: number; label: string };
  legend?: string[];
}

const HEIGHT = 64;
const WIDTH = 376;
const GAP = 2;
const WIDEST = 18;
/** Room over the largest value, so that a line at the top isn't cut. */
const HEAD = 4;

const sum = (values: number[]): number => values.reduce((a, b) => a + b, 0);

function bars(points: Point[], colours: number[], y: (value: number) => number): SVGTemplateResult[] {
  const step = Math.min(WIDEST + GAP, WIDTH / points.length);
  return points.map((point, i) => {
    let low = 0;
    return svg`<g><title>${`${point.name}: ${point.words}`}</title><rect class="catch" x=${i * step} y="0" width=${step} height=${HEIGHT}/>${point.values.map((value, at) => {
      const [bottom, top] = [y(low), y(low + value)];
      low += value;
      return value > 0 ? svg`<rect class="part-${colours[at]}" x=${i * step} y=${top} width=${Math.max(1, step - GAP)} height=${Math.max(1, bottom - top)} rx="1.5"/>` : nothing;
    })}</g>`;
  });
}

function line(points: Point[], y: (value: number) => number): SVGTemplateResult {
  const step = points.length > 1 ? Math.min(40, (WIDTH - 8) / (points.length - 1)) : 0;
  const places = points.map((point, i) => [4 + i * step, y(point.values[0]!)] as const);
  return svg`<path class="plot-line" d=${`M${places.map(([x, at]) => `${x.toFixed(1)},${at.toFixed(1)}`).join('L')}`}/>${places.map(([x, at], i) => svg`<g><title>${`${points[i]!.name}: ${points[i]!.words}`}</title>
    <rect class="catch" x=${x - Math.max(4, step / 2)} y="0" width=${Math.max(8, step)} height=${HEIGHT}/><circle class="plot-dot" cx=${x} cy=${at} r=${points.length > 40 ? 1.5 : 2.5}/></g>`)}`;
}

const legendView = (words: string[], colours: number[]): TemplateResult => html`<span class="plot-legend">${words.map((word, i) => html`<span>
  <svg width="9" height="9"><rect class="part-${colours[i]!}" width="9" height="9" rx="3"/></svg>${word}</span>`)}</span>`;

/** A plot with its title, its latest value and its first and last day. Said in words to who can't see it. */
export function plot({ title, now, points, colours, most, line: isLine, level, legend }: Plot): TemplateResult {
  if (!points.length) return html`<figure class="plot"><figcaption><span>${title}</span><b>${now}</b></figcaption></figure>`;
  const top = most ?? Math.max(...points.map((point) => sum(point.values)), 1e-9);
  const y = (value: number): number => HEIGHT - (Math.min(value, top) / top) * (HEIGHT - HEAD);
  const told = `${title}: ${points.slice(-7).map((point) => `${point.name} ${point.words}`).join('; ')}`;
  return html`<figure class="plot"><figcaption><span>${title}</span><b>${now}</b></figcaption>
    <svg class="plot-area" viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="xMinYMid meet" role="img" aria-label=${told}>
      <line class="plot-base" x1="0" x2=${WIDTH} y1=${HEIGHT - 0.5} y2=${HEIGHT - 0.5}/>
      ${level ? svg`<line class="plot-level" x1="0" x2=${WIDTH} y1=${y(level.at)} y2=${y(level.at)}/><text class="plot-text" x=${WIDTH} y=${y(level.at) - 3} text-anchor="end">${level.label}</text>` : nothing}
      ${isLine ? line(points, y) : bars(points, colours, y)}</svg>
    <div class="plot-days" aria-hidden="true"><span>${points[0]!.name}</span>${legend ? legendView(legend, colours) : nothing}<span>${points.length > 1 ? points.at(-1)!.name : ''}</span></div></figure>`;
}
