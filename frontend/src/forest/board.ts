import { AriaTree } from './aria';
import { Brush, type BrushTold } from './brush';
import { scrolledTrees, TreeChips } from './chips';
import { paint, type StandingLabel } from './draw';
import { LabelLayer } from './label-layer';
import { daysOf, LabelPlan, namesOf } from './labelling';
import { readPalette, type Palette } from './palette';
import { paintPromise } from './promise';
import { StemCache } from './stems';
import { Strip } from './strip';
import type { Frame } from './frame';
import type { Marks } from './marks';
import type { Stage } from './camera';
import type { writeWords as WriteWords } from './svg';

/** Counts changes of the scene, and of scene or marks, so that what is kept between pictures is made anew in time. */
export interface Versions {
  scene: number;
  marks: number;
}

/** Everything that is seen: the canvas, the text over it, the chips, and the tree for screen readers. */
export class Board {
  readonly canvas = document.createElement('canvas');
  readonly aria = new AriaTree('Forest of turns');
  readonly brush: Brush;
  readonly strip: Strip;
  private readonly ctx: CanvasRenderingContext2D;
  private readonly layer = new LabelLayer();
  private readonly chips: TreeChips;
  private readonly sentence = document.createElement('div');
  private readonly plan = new LabelPlan();
  private readonly stems = new StemCache();
  private palette: Palette;

  constructor(
    private readonly container: HTMLElement,
    on: { zoomTo(root: number): void; brushed: BrushTold; redraw(): void },
  ) {
    const ctx = this.canvas.getContext('2d');
    if (!ctx) throw new Error('This browser has no canvas to draw on.');
    this.ctx = ctx;
    this.chips = new TreeChips((root) => on.zoomTo(root));
    this.brush = new Brush(on.brushed, on.redraw);
    this.strip = new Strip(this.brush);
    container.classList.add('forest-view');
    this.sentence.className = 'forest-promise';
    this.sentence.textContent = 'Your first turn plants the first tree';
    this.canvas.setAttribute('aria-hidden', 'true');
    container.append(this.canvas, this.layer.element, this.sentence, this.chips.element, this.aria.element, this.brush.element);
    this.palette = readPalette(container);
  }

  /** The page's colours changed. */
  retheme(): void {
    this.palette = readPalette(this.container);
  }

  /** The board has another size; a resized canvas is blank until it is drawn. */
  resize({ width, height }: Stage): void {
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
  }

  /** The picture of a frame with its words, as SVG. The strip is left out. */
  async svg(frame: Frame, marks: Marks, versions: Versions, title: string): Promise<string> {
    const { SvgContext, writeWords } = await import('./svg');
    const written = new SvgContext();
    this.paintWithWords(written as unknown as CanvasRenderingContext2D, frame, marks, versions, writeWords);
    return written.document(frame.stage.width, frame.stage.height, title, this.palette.font);
  }

  /** The same as pixels, twice as many as the screen has at least. */
  async png(frame: Frame, marks: Marks, versions: Versions): Promise<Blob | null> {
    const { writeWords } = await import('./svg');
    const ratio = Math.max(2, window.devicePixelRatio || 1);
    const canvas = document.createElement('canvas');
    canvas.width = Math.round(frame.stage.width * ratio);
    canvas.height = Math.round(frame.stage.height * ratio);
    const ctx = canvas.getContext('2d');
    if (!ctx) return null;
    ctx.scale(ratio, ratio);
    this.paintWithWords(ctx, frame, marks, versions, writeWords);
    return new Promise((done) => canvas.toBlob(done));
  }

  private paintWithWords(ctx: CanvasRenderingContext2D, frame: Frame, marks: Marks, versions: Versions, write: typeof WriteWords): void {
    const { palette } = this;
    const { standing, texts } = this.plan.labels(frame, marks, versions.marks);
    const days = daysOf(frame);
    const stems = frame.mode === 'stems' ? this.stems.of(frame, versions.scene) : null;
    paint(ctx, { frame, marks, palette, labels: standing, days: days.standing, stems });
    const measure = (text: string, font: string): number => {
      this.ctx.font = font;
      return this.ctx.measureText(text).width;
    };
    const names = namesOf(frame, marks, stems, (text) => measure(text, `650 ${frame.stage.phone ? 14 : 13}px ${palette.font}`));
    write(ctx, { labels: texts, days: days.texts, names }, frame, palette, measure);
  }

  /** Shows a frame; returns the labels that stand in it, for the hit test. */
  draw(frame: Frame, marks: Marks, versions: Versions): readonly StandingLabel[] {
    const { ctx, palette } = this;
    const ratio = window.devicePixelRatio || 1;
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    const empty = !frame.scene.states.length;
    this.sentence.hidden = !empty;
    this.layer.element.hidden = empty;
    this.aria.show(frame.scene, marks);
    this.chips.show(empty ? [] : scrolledTrees(frame));
    this.brush.show(!empty && frame.stripShown ? frame : null);
    if (empty) {
      const { x, y } = paintPromise(ctx, frame.stage, palette);
      this.sentence.style.transform = `translate(${Math.round(x)}px, ${Math.round(y)}px)`;
      return [];
    }
    const { standing, texts } = this.plan.labels(frame, marks, versions.marks);
    const days = daysOf(frame);
    const stems = frame.mode === 'stems' ? this.stems.of(frame, versions.scene) : null;
    paint(ctx, { frame, marks, palette, labels: standing, days: days.standing, stems });
    if (frame.stripShown) this.strip.draw(ctx, frame, marks.asOf, palette, versions.scene);
    this.layer.showLabels(texts, frame);
    this.layer.showDays(days.texts);
    ctx.font = `650 ${frame.stage.phone ? 14 : 13}px ${palette.font}`;
    this.layer.showNames(namesOf(frame, marks, stems, (text) => ctx.measureText(text).width));
    return standing;
  }
}
