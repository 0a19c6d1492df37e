import { stripScale } from './draw-strip';
import { dayInWords, isOpen, rangeWords, RowDays, type DayRange } from './days';
import type { Frame } from './frame';
import type { Scene } from './layout';

/** Hears which days are chosen; not `done` while a hand still moves, null when it gave up. */
export type BrushTold = (range: DayRange | null, done: boolean) => void;

type End = 'from' | 'to';
const ENDS = ['from', 'to'] as const;
/** A key of a large step passes so many days with turns. */
const LEAP = 7;
/** The names of trees stick to the upper edge; the button stays below them. */
const CHIPS = 84;
const OPEN: DayRange = { from: '', to: '' };

/** The days that are looked at, on the strip: two handles, each a slider, and a button that shows all again. */
export class Brush {
  readonly element = document.createElement('div');
  private readonly handles: Record<End, HTMLElement>;
  private readonly clear = document.createElement('button');
  private readonly clearWords = document.createElement('span');
  private range: DayRange = OPEN;
  /** What a hand is choosing, and where its ends are now in row units: they follow the hand, and snap when it lets go. */
  private draft: { range: DayRange; ends: [number, number] } | null = null;
  private known: RowDays | null = null;
  private held: { end: End; offset: number } | null = null;
  private frame: Frame | null = null;
  private readonly abort = new AbortController();

  constructor(
    private readonly told: BrushTold,
    private readonly redraw: () => void,
  ) {
    this.element.className = 'forest-brush';
    this.element.setAttribute('role', 'group');
    this.element.setAttribute('aria-label', 'Days that are looked at');
    this.handles = { from: this.handle('from'), to: this.handle('to') };
    this.clear.type = 'button';
    this.clear.className = 'brush-clear';
    this.clear.dataset['testid'] = 'brush-clear';
    this.clear.append(this.clearWords, cross());
    this.clear.addEventListener('click', () => {
      this.end(OPEN);
      this.handles.from.focus({ preventScroll: true });
    });
    this.element.append(this.handles.from, this.clear, this.handles.to);
    this.element.addEventListener('keydown', (event) => this.key(event));
    // Escape lets go of what a hand is choosing, wherever the focus is.
    addEventListener('keydown', (event) => {
      if (event.key !== 'Escape' || !this.draft) return;
      event.preventDefault();
      event.stopPropagation();
      this.giveUp();
    }, { signal: this.abort.signal, capture: true });
  }

  /** The page's own value. */
  set(range: DayRange): void {
    this.range = { from: range.from, to: range.to };
    this.redraw();
  }

  /** What is chosen now, by the page or by the hand. */
  get chosen(): DayRange {
    return this.draft?.range ?? this.range;
  }

  get isHeld(): boolean {
    return this.draft !== null;
  }

  days(scene: Scene): RowDays {
    if (this.known?.scene !== scene) this.known = new RowDays(scene);
    return this.known;
  }

  /** Whether a height of the strip, in row units, is in the range, which can be taken as a whole there. */
  covers(units: number, scene: Scene): boolean {
    if (isOpen(this.range)) return false;
    const [top, bottom] = this.days(scene).extent(this.range);
    return units >= top && units <= bottom;
  }

  /** A hand draws a range from one height to another. */
  draw(from: number, to: number, scene: Scene): void {
    this.choose(this.days(scene).between(from, to) ?? this.range, from < to ? [from, to] : [to, from]);
  }

  /** A hand takes the range elsewhere: its upper end to a height. */
  carry(top: number, scene: Scene): void {
    const days = this.days(scene);
    const range = days.shifted(top, this.range);
    this.choose(range, days.extent(range));
  }

  private choose(range: DayRange, ends: [number, number]): void {
    const before = this.chosen;
    this.draft = { range, ends };
    if (before.from !== range.from || before.to !== range.to) this.told(range, false);
    this.redraw();
  }

  /** The hand lets go. The focus is on an end then, so that keys go on from there. */
  release(): void {
    const { draft } = this;
    if (!draft) return;
    this.end(draft.range);
    this.handles[draft.range.to || !draft.range.from ? 'to' : 'from'].focus({ preventScroll: true });
  }

  giveUp(): void {
    if (!this.draft) return;
    this.draft = null;
    this.held = null;
    this.told(null, true);
    this.redraw();
  }

  private end(range: DayRange): void {
    this.draft = null;
    this.range = range;
    this.told(range, true);
    this.redraw();
  }

  /** Puts handles and button where they belong in a frame; null hides them. */
  show(frame: Frame | null): void {
    this.frame = frame;
    this.element.hidden = frame === null;
    if (!frame) return;
    const { scene, strip, stage } = frame;
    const days = this.days(scene);
    const y = stripScale(scene, frame);
    const ends = this.draft?.ends ?? days.extent(this.range);
    const on = !isOpen(this.chosen);
    this.element.classList.toggle('on', on);
    this.element.style.transform = `translateX(${strip.x}px)`;
    this.element.style.width = `${strip.width}px`;
    const at = days.ends(this.chosen);
    for (const [number, end] of ENDS.entries()) {
      const handle = this.handles[end];
      const day = days.days[at[end]] ?? '';
      handle.style.transform = `translateY(${Math.round(y(ends[number]))}px)`;
      handle.classList.toggle('open', this.chosen[end] === '');
      handle.setAttribute('aria-valuemax', String(Math.max(0, days.days.length - 1)));
      handle.setAttribute('aria-valuenow', String(at[end]));
      handle.setAttribute('aria-valuetext', day ? `${this.chosen[end] ? '' : end === 'from' ? 'the beginning, ' : 'now, '}${dayInWords(day)}` : 'no day');
    }
    this.clear.hidden = !on;
    if (!on) return;
    const words = rangeWords(this.chosen, String(new Date().getFullYear()));
    this.clearWords.textContent = words;
    this.clear.setAttribute('aria-label', `${words}. Show all days again`);
    this.clear.style.transform = `translateY(${Math.round(Math.max(CHIPS, Math.min(y(ends[0]), stage.height - 8)))}px)`;
  }

  destroy(): void {
    this.abort.abort();
  }

  private handle(end: End): HTMLElement {
    const handle = document.createElement('div');
    handle.className = `brush-handle ${end}`;
    handle.tabIndex = 0;
    handle.dataset['testid'] = `brush-${end}`;
    handle.setAttribute('role', 'slider');
    handle.setAttribute('aria-orientation', 'vertical');
    handle.setAttribute('aria-label', end === 'from' ? 'From the day' : 'To the day');
    handle.setAttribute('aria-valuemin', '0');
    handle.append(document.createElement('i'));
    handle.addEventListener('pointerdown', (event) => {
      if (event.button !== 0 || !event.isPrimary || !this.frame) return;
      handle.setPointerCapture(event.pointerId);
      const ends = this.days(this.frame.scene).extent(this.range);
      this.held = { end, offset: event.clientY - this.top() - stripScale(this.frame.scene, this.frame)(ends[end === 'from' ? 0 : 1]) };
    });
    handle.addEventListener('pointermove', (event) => this.pull(event));
    handle.addEventListener('pointerup', () => {
      this.held = null;
      this.release();
    });
    handle.addEventListener('pointercancel', () => this.giveUp());
    return handle;
  }

  private top(): number {
    return this.element.getBoundingClientRect().top;
  }

  private pull(event: PointerEvent): void {
    const { held, frame } = this;
    if (!held || !frame) return;
    const days = this.days(frame.scene);
    const units = stripScale(frame.scene, frame).invert(event.clientY - this.top() - held.offset);
    const ends = days.extent(this.range);
    if (held.end === 'from') ends[0] = Math.max(0, Math.min(units, ends[1]));
    else ends[1] = Math.min(frame.scene.height, Math.max(units, ends[0]));
    this.choose(days.moved(held.end, units, this.range), ends);
  }

  private key(event: KeyboardEvent): void {
    const end = ENDS.find((one) => this.handles[one] === event.target);
    const { frame } = this;
    if (event.ctrlKey || event.metaKey || event.altKey || !frame) return;
    if (event.key === 'Escape' && !isOpen(this.range)) this.end(OPEN);
    else {
      const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1, PageDown: LEAP, PageUp: -LEAP, End: Infinity, Home: -Infinity }[event.key];
      if (!end || step === undefined) return;
      this.end(this.days(frame.scene).stepped(end, step, this.range));
    }
    event.preventDefault();
    event.stopPropagation();
  }
}

function cross(): SVGSVGElement {
  const made = <K extends keyof SVGElementTagNameMap>(name: K, attributes: Record<string, string>): SVGElementTagNameMap[K] => {
    const element = document.createElementNS('http://www.w3.org/2000/svg', name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return element;
  };
  const icon = made('svg', { viewBox: '0 0 20 20', width: '14', height: '14', fill: 'none', stroke: 'currentColor', 'stroke-width': '1.9', 'stroke-linecap': 'round', 'aria-hidden': 'true' });
  icon.append(made('path', { d: 'm5.5 5.5 9 9M14.5 5.5l-9 9' }));
  return icon;
}
