/** The drawing as SVG: the painter paints into something that looks like a canvas and writes elements instead. */

import { clamp } from './numbers';
import type { FreeText, LabelText } from './label-layer';
import type { Frame } from './frame';
import type { Palette } from './palette';

type Matrix = [number, number, number, number, number, number];

interface Look {
  fillStyle: string | SvgGradient;
  strokeStyle: string;
  lineWidth: number;
  lineCap: string;
  lineJoin: string;
  globalAlpha: number;
  font: string;
  textAlign: string;
  dash: number[];
  matrix: Matrix;
  clip: string | null;
}

class SvgGradient {
  readonly stops: string[] = [];
  constructor(readonly id: string) {}
  addColorStop(at: number, colour: string): void {
    this.stops.push(`<stop offset="${at}" stop-color="${colour}"/>`);
  }
}

const n = (value: number): string => String(Math.round(value * 100) / 100);

export const escaped = (text: string): string => text.replace(/[&<>"]/g, (sign) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[sign]!);

/** What the painter needs of a canvas context. Paths are written in the coordinates they are drawn in, with the transform beside them. */
export class SvgContext {
  fillStyle: string | SvgGradient = '#000';
  strokeStyle = '#000';
  lineWidth = 1;
  lineCap = 'butt';
  lineJoin = 'miter';
  globalAlpha = 1;
  font = '12px sans-serif';
  textAlign = 'start';
  textBaseline = 'alphabetic';
  private dash: number[] = [];
  private matrix: Matrix = [1, 0, 0, 1, 0, 0];
  private clipId: string | null = null;
  private path = '';
  private readonly stack: Look[] = [];
  private readonly elements: string[] = [];
  private readonly defs: string[] = [];
  private readonly gradients: SvgGradient[] = [];

  save(): void {
    const { fillStyle, strokeStyle, lineWidth, lineCap, lineJoin, globalAlpha, font, textAlign } = this;
    this.stack.push({ fillStyle, strokeStyle, lineWidth, lineCap, lineJoin, globalAlpha, font, textAlign, dash: this.dash, matrix: this.matrix, clip: this.clipId });
  }

  restore(): void {
    const look = this.stack.pop();
    if (!look) return;
    const { dash, matrix, clip, ...rest } = look;
    Object.assign(this, rest);
    this.dash = dash;
    this.matrix = matrix;
    this.clipId = clip;
  }

  translate(x: number, y: number): void {
    this.multiply([1, 0, 0, 1, x, y]);
  }

  scale(x: number, y: number): void {
    this.multiply([x, 0, 0, y, 0, 0]);
  }

  rotate(angle: number): void {
    const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
    this.multiply([cos, sin, -sin, cos, 0, 0]);
  }

  private multiply([a2, b2, c2, d2, e2, f2]: Matrix): void {
    const [a, b, c, d, e, f] = this.matrix;
    this.matrix = [a * a2 + c * b2, b * a2 + d * b2, a * c2 + c * d2, b * c2 + d * d2, a * e2 + c * f2 + e, b * e2 + d * f2 + f];
  }

  setLineDash(dash: number[]): void {
    this.dash = dash;
  }

  beginPath(): void {
    this.path = '';
  }

  moveTo(x: number, y: number): void {
    this.path += `M${n(x)} ${n(y)}`;
  }

  lineTo(x: number, y: number): void {
    this.path += `L${n(x)} ${n(y)}`;
  }

  bezierCurveTo(x1: number, y1: number, x2: number, y2: number, x: number, y: number): void {
    this.path += `C${n(x1)} ${n(y1)} ${n(x2)} ${n(y2)} ${n(x)} ${n(y)}`;
  }

  closePath(): void {
    this.path += 'Z';
  }

  rect(x: number, y: number, width: number, height: number): void {
    this.path += `M${n(x)} ${n(y)}h${n(width)}v${n(height)}h${n(-width)}Z`;
  }

  roundRect(x: number, y: number, width: number, height: number, radius: number): void {
    const r = Math.min(radius, width / 2, height / 2);
    const arc = (dx: number, dy: number): string => `a${n(r)} ${n(r)} 0 0 1 ${n(dx)} ${n(dy)}`;
    this.path += `M${n(x + r)} ${n(y)}h${n(width - 2 * r)}${arc(r, r)}v${n(height - 2 * r)}${arc(-r, r)}h${n(2 * r - width)}${arc(-r, -r)}v${n(2 * r - height)}${arc(r, -r)}Z`;
  }

  /** Clockwise, as the painter draws them: whole circles and halves. */
  arc(x: number, y: number, r: number, from: number, to: number): void {
    const at = (angle: number): string => `${n(x + r * Math.cos(angle))} ${n(y + r * Math.sin(angle))}`;
    const middle = (from + to) / 2;
    this.path += `M${at(from)}A${n(r)} ${n(r)} 0 0 1 ${at(middle)}A${n(r)} ${n(r)} 0 0 1 ${at(to)}`;
  }

  clip(): void {
    const id = `clip${this.defs.length}`;
    this.defs.push(`<clipPath id="${id}"${this.clipId ? ` clip-path="url(#${this.clipId})"` : ''}><path d="${this.path}"${this.transform()}/></clipPath>`);
    this.clipId = id;
  }

  fill(): void {
    this.fillPath(this.path);
  }

  /** A path that is known by its words, as leaves are. */
  fillPath(d: string): void {
    this.put(`<path d="${d}" fill="${this.paint()}"${this.alpha('fill')}${this.transform()}/>`);
  }

  fillRect(x: number, y: number, width: number, height: number): void {
    this.put(`<rect x="${n(x)}" y="${n(y)}" width="${n(width)}" height="${n(height)}" fill="${this.paint()}"${this.alpha('fill')}${this.transform()}/>`);
  }

  stroke(): void {
    const dash = this.dash.length ? ` stroke-dasharray="${this.dash.map(n).join(' ')}"` : '';
    const cap = this.lineCap === 'butt' ? '' : ` stroke-linecap="${this.lineCap}"`;
    this.put(`<path d="${this.path}" fill="none" stroke="${this.strokeStyle}" stroke-width="${n(this.lineWidth)}"${dash}${cap}${this.alpha('stroke')}${this.transform()}/>`);
  }

  fillText(text: string, x: number, y: number): void {
    const [, weight, size] = /^(?:(\d{3}) )?(\d+(?:\.\d+)?)px/.exec(this.font) ?? [];
    this.put(`<text x="${n(x)}" y="${n(y)}" font-size="${size ?? 12}"${weight ? ` font-weight="${weight}"` : ''}${this.textAlign === 'center' ? ' text-anchor="middle"' : ''} fill="${this.paint()}"${this.alpha('fill')}>${escaped(text)}</text>`);
  }

  createRadialGradient(x: number, y: number, _: number, x1: number, y1: number, r: number): SvgGradient {
    const gradient = new SvgGradient(`glow${this.gradients.length}`);
    this.gradients.push(gradient);
    this.defs.push(`<radialGradient id="${gradient.id}" gradientUnits="userSpaceOnUse" fx="${n(x)}" fy="${n(y)}" cx="${n(x1)}" cy="${n(y1)}" r="${n(r)}">%${gradient.id}%</radialGradient>`);
    return gradient;
  }

  private put(element: string): void {
    this.elements.push(this.clipId ? `<g clip-path="url(#${this.clipId})">${element}</g>` : element);
  }

  private paint(): string {
    return typeof this.fillStyle === 'string' ? this.fillStyle : `url(#${this.fillStyle.id})`;
  }

  private alpha(what: 'fill' | 'stroke'): string {
    return this.globalAlpha < 1 ? ` ${what}-opacity="${n(this.globalAlpha)}"` : '';
  }

  private transform(): string {
    const plain = this.matrix.every((value, i) => value === [1, 0, 0, 1, 0, 0][i]);
    return plain ? '' : ` transform="matrix(${this.matrix.map((value) => String(Math.round(value * 1e4) / 1e4)).join(' ')})"`;
  }

  /** The whole picture. */
  document(width: number, height: number, title: string, family: string): string {
    const defs = this.gradients.reduce((text, gradient) => text.replace(`%${gradient.id}%`, gradient.stops.join('')), this.defs.join(''));
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${n(width)}" height="${n(height)}" viewBox="0 0 ${n(width)} ${n(height)}" font-family="${escaped(family)}"><title>${escaped(title)}</title><defs>${defs}</defs>${this.elements.join('')}</svg>`;
  }
}

const BASELINE = 4.5;

/** A text shortened until it fits. */
function fitting(text: string, width: number, measure: (text: string) => number): string {
  if (measure(text) <= width) return text;
  let cut = Math.max(0, Math.floor((text.length * width) / Math.max(1, measure(text))));
  while (cut > 0 && measure(`${text.slice(0, cut)}…`) > width) cut--;
  return cut > 0 ? `${text.slice(0, cut).trimEnd()}…` : '';
}

interface Words {
  labels: readonly LabelText[];
  days: readonly FreeText[];
  names: readonly FreeText[];
}

type Writes = Pick<CanvasRenderingContext2D, 'font' | 'fillStyle' | 'textAlign' | 'globalAlpha' | 'beginPath' | 'roundRect' | 'fill' | 'fillText'>;

/** Writes the labels, which on the page are real text over the canvas. */
export function writeWords(ctx: Writes, { labels, days, names }: Words, frame: Frame, palette: Palette, measure: (text: string, font: string) => number): void {
  const size = frame.stage.phone ? 14 : 13;
  const x0 = frame.label + 8.5;
  const room = clamp(frame.strip.x - 3 - x0, 40, 460);
  const put = (text: string, x: number, y: number, weight: number, colour: string, px = size): void => {
    if (!text) return;
    ctx.font = `${weight} ${px}px ${palette.font}`;
    ctx.fillStyle = colour;
    ctx.fillText(text, x, y + BASELINE);
  };
  ctx.textAlign = 'start';
  ctx.globalAlpha = 1; // what is dim has no label
  for (const label of labels) {
    const tag = label.tag ? measure(label.tag.text, `600 12px ${palette.font}`) + 16 : 0;
    const topic = fitting(label.topic, room * 0.62, (text) => measure(text, `650 ${size}px ${palette.font}`));
    const after = topic ? measure(topic, `650 ${size}px ${palette.font}`) + 8 : 0;
    put(topic, x0, label.y, 650, palette.ink);
    put(fitting(label.text, room - after - (tag ? tag + 12 : 0), (text) => measure(text, `${label.strong ? 650 : 400} ${size}px ${palette.font}`)), x0 + after, label.y, label.strong ? 650 : 400, label.ink ? palette.ink : palette.ink2);
    if (!label.tag) continue;
    ctx.fillStyle = palette.sunk;
    ctx.beginPath();
    ctx.roundRect(x0 + room - tag - 4, label.y - 8.5, tag, 17, 8.5);
    ctx.fill();
    put(label.tag.text, x0 + room - tag + 4, label.y, 600, palette.ink2, 12);
  }
  for (const { text, bold, x, y } of days) {
    put(text, x, y, 400, palette.ink2, 12);
    put(bold, x + (text ? measure(text, `400 12px ${palette.font}`) + 3 : 0), y, 600, palette.ink2, 12);
  }
  for (const { text, bold, x, y } of names) {
    put(bold, x, y, 650, palette.ink);
    put(text, x + (bold ? measure(bold, `650 ${size}px ${palette.font}`) + 4 : 0), y, 400, palette.ink2);
  }
}
