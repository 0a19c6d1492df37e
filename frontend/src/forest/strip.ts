import type { Brush } from './brush';
import { isOpen } from './days';
import { paintMiniature, paintOutside, paintStripMarks, pillPlace, PILL, stripScale, stripWindow } from './draw-strip';
import type { Frame } from './frame';
import type { Palette } from './palette';

/** Where a hand on the strip leads: a place to look at, or a position to travel to (null is now). */
export type StripMove = { kind: 'window'; top: number } | { kind: 'now'; position: number | null };

/** What a hand holds: the window, the "now" pill, the range as a whole, or nothing yet: then it draws a range. */
interface Grip {
  kind: 'window' | 'now' | 'range' | 'draw';
  offset: number;
  from: number;
  moved: boolean;
  begun: boolean;
}

/** A hand that trembles this much clicks. */
const SLACK = 4;

/** The time strip: keeps its miniature between pictures, and follows a hand on the window, on the "now" pill, and elsewhere as a brush. */
export class Strip {
  private readonly miniature = document.createElement('canvas');
  private key = '';
  private grabbed: Grip | null = null;

  constructor(private readonly brush: Brush) {}

  /** Paints the strip; `version` changes with the scene. */
  draw(ctx: CanvasRenderingContext2D, frame: Frame, asOf: number | null, palette: Palette, version: number): void {
    const { scene, stage, strip } = frame;
    const ratio = window.devicePixelRatio || 1;
    const key = [version, stage.width, stage.height, ratio, palette.paper, stripScale(scene, frame).range()[1]].join();
    if (key !== this.key) {
      this.key = key;
      this.miniature.width = Math.ceil(strip.width * ratio);
      this.miniature.height = Math.ceil(stage.height * ratio);
      const small = this.miniature.getContext('2d');
      small?.setTransform(ratio, 0, 0, ratio, 0, 0);
      if (small) paintMiniature(small, scene, frame, palette);
    }
    ctx.drawImage(this.miniature, strip.x, 0, this.miniature.width / ratio, this.miniature.height / ratio);
    const { chosen } = this.brush;
    if (!isOpen(chosen)) paintOutside(ctx, frame, this.brush.days(scene).outside(chosen), palette);
    paintStripMarks(ctx, frame, asOf, palette);
  }

  /** What a hand would take hold of at a height. */
  at(y: number, frame: Frame, asOf: number | null, travels: boolean): Grip['kind'] {
    return grab(y, frame, asOf, travels, this.brush).kind;
  }

  /** A hand takes hold, moves or lets go at a height; says where that leads, unless it chooses days: that the brush tells. */
  drag(phase: 'start' | 'drag' | 'end', y: number, frame: Frame, asOf: number | null, travels: boolean): StripMove | null {
    if (phase === 'start') this.grabbed = grab(y, frame, asOf, travels, this.brush);
    const { grabbed } = this;
    if (phase === 'end') this.grabbed = null;
    if (!grabbed) return null;
    const units = stripScale(frame.scene, frame).invert(y - grabbed.offset);
    if (grabbed.kind === 'window') return { kind: 'window', top: units };
    if (grabbed.kind === 'now') return phase === 'start' ? null : { kind: 'now', position: positionAt(units, frame) };
    return this.choose(grabbed, phase, y, units, frame);
  }

  private choose(grabbed: Grip, phase: 'start' | 'drag' | 'end', y: number, units: number, frame: Frame): StripMove | null {
    if (Math.abs(y - grabbed.from) > SLACK && phase === 'drag') grabbed.moved = true;
    if (!grabbed.moved) return phase === 'end' ? jump(y, frame) : null;
    if (phase === 'end') this.brush.release();
    else if (grabbed.begun && !this.brush.isHeld) this.grabbed = null; // Escape let go of it
    else {
      grabbed.begun = true;
      if (grabbed.kind === 'draw') this.brush.draw(stripScale(frame.scene, frame).invert(grabbed.from), units, frame.scene);
      else this.brush.carry(units, frame.scene);
    }
    return null;
  }
}

/** The last turn at or above a height, null for now. */
function positionAt(units: number, { scene }: Frame): number | null {
  const { rows, states, height } = scene;
  if (units >= height - 0.6) return null;
  const above = rows.filter((row) => row.y <= units + 0.5).at(-1);
  return above ? states[above.index].row.position : 0;
}

/** A click beside the window: its middle comes there. */
function jump(y: number, frame: Frame): StripMove | null {
  const window = stripWindow(frame);
  return window && { kind: 'window', top: stripScale(frame.scene, frame).invert(y - (window[1] - window[0]) / 2) };
}

function grab(y: number, frame: Frame, asOf: number | null, travels: boolean, brush: Brush): Grip {
  const scale = stripScale(frame.scene, frame);
  const held = (kind: Grip['kind'], offset: number): Grip => ({ kind, offset, from: y, moved: false, begun: false });
  const pill = pillPlace(frame, asOf);
  if (travels && y >= pill - 3 && y <= pill + PILL.height + 3) {
    // Held at its upper edge, except at "now", where the pill hangs below the newest row.
    return held('now', asOf === null ? y - scale(frame.scene.height) : y - pill);
  }
  const window = stripWindow(frame);
  if (window && y >= window[0] - 3 && y <= window[1] + 3) return held('window', y - window[0]);
  if (brush.covers(scale.invert(y), frame.scene)) return held('range', y - scale(brush.days(frame.scene).extent(brush.chosen)[0]));
  return held('draw', 0);
}
