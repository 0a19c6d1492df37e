import { quadtree, type Quadtree } from 'd3-quadtree';
import { inView, type Frame } from './frame';
import { rowAt } from './layout';
import type { StandingLabel } from './draw';

/** Finds the state under a pointer: the nearest node, else the whole row. */
export class HitTest {
  private tree: Quadtree<number> | null = null;
  private frame: Frame | null = null;
  private labels: readonly StandingLabel[] = [];

  /** Tells what is on the screen now; the index is only built when someone points at it. */
  show(frame: Frame, labels: readonly StandingLabel[]): void {
    this.frame = frame;
    this.labels = labels;
    this.tree = null;
  }

  /** Index of the state at a place, or −1. `reach` is larger for fingers. */
  at(x: number, y: number, reach: number): number {
    const { frame } = this;
    if (!frame || x >= frame.strip.x - 4) return -1;
    const node = this.index(frame).find(x, y, reach);
    if (node !== undefined) return node;
    return this.inRow(x, y, frame);
  }

  /** Index of the node itself at a place, or −1. */
  nodeAt(x: number, y: number, reach: number): number {
    const { frame } = this;
    return !frame || x >= frame.strip.x - 4 ? -1 : this.index(frame).find(x, y, reach) ?? -1;
  }

  private inRow(x: number, y: number, frame: Frame): number {
    if (frame.mode === 'tree' || frame.mode === 'stems') return -1;
    if (x >= frame.label - 10) {
      const label = this.labels.find((l) => Math.abs(l.y - y) <= 8.5);
      if (label) return label.index;
    }
    const { rows } = frame.scene;
    const units = (y - frame.yOf(0)) / frame.unit;
    const row = rows[rowAt(rows, units)];
    return row && frame.mode !== 'far' && Math.abs(row.y - units) <= row.size / 2 ? row.index : -1;
  }

  private index(frame: Frame): Quadtree<number> {
    if (this.tree) return this.tree;
    const shown: number[] = [];
    for (let i = 0; i < frame.ys.length; i++) if (inView(frame, frame.ys[i])) shown.push(i);
    return (this.tree = quadtree<number>(
      shown,
      (i) => frame.xs[i],
      (i) => frame.ys[i],
    ));
  }
}

/** What pointing leads to. */
export interface PointerOwner {
  hit(x: number, y: number, reach: number): number;
  over(index: number): void;
  /** After the pointer rested, or a finger pressed long. */
  rest(index: number): void;
  click(index: number): void;
  doubleClick(index: number): void;
  /** What can be done with it is asked for, at a place of the page. */
  menu(index: number, x: number, y: number): void;
}

/** Rest before a hover card, and press before it on a touch screen. */
const REST = 120;
const PRESS = 480;

/** Turns pointer events on the canvas into hovering, choosing and centring. */
export function listenToPointer(canvas: HTMLCanvasElement, owner: PointerOwner): () => void {
  let timer = 0;
  let over = -1;
  let pressed = false;
  const find = (event: MouseEvent, reach: number): number => {
    const box = canvas.getBoundingClientRect();
    return owner.hit(event.clientX - box.left, event.clientY - box.top, reach);
  };
  const move = (index: number, delay: number): void => {
    if (index === over) return;
    over = index;
    owner.over(index);
    clearTimeout(timer);
    if (index >= 0) timer = window.setTimeout(() => owner.rest(index), delay);
  };
  const abort = new AbortController();
  const on = <K extends keyof HTMLElementEventMap>(type: K, listener: (event: HTMLElementEventMap[K]) => void): void =>
    canvas.addEventListener(type, listener, { signal: abort.signal });
  on('pointermove', (event) => {
    if (event.pointerType !== 'touch' && !event.buttons) move(find(event, 14), REST);
    else if (event.pointerType === 'touch') clearTimeout(timer);
  });
  on('pointerleave', () => move(-1, 0));
  on('pointerdown', (event) => {
    move(-1, 0);
    pressed = false;
    if (event.pointerType !== 'touch') return;
    const index = find(event, 24);
    if (index < 0) return;
    timer = window.setTimeout(() => {
      pressed = true;
      owner.over(index);
      owner.rest(index);
    }, PRESS);
  });
  on('click', (event) => {
    clearTimeout(timer);
    // A long press showed the card; lifting the finger doesn't choose as well.
    if (!pressed) owner.click(find(event, (event as PointerEvent).pointerType === 'touch' ? 24 : 14));
  });
  on('contextmenu', (event) => {
    const index = find(event, 14);
    if (index < 0) return;
    event.preventDefault();
    move(-1, 0);
    // A finger that presses long asks for the card, and can carry the state away.
    if ((event as PointerEvent).pointerType !== 'touch') owner.menu(index, event.clientX, event.clientY);
  });
  on('dblclick', (event) => owner.doubleClick(find(event, 14)));
  on('wheel', () => move(-1, 0));
  return () => {
    clearTimeout(timer);
    abort.abort();
  };
}
