import { paintMiniature, paintStripMarks, pillPlace, PILL, stripScale, stripWindow } from './draw-strip';
import type { Frame } from './frame';
import type { Palette } from './palette';

/** Where a hand on the strip leads: a place to look at, or a position to travel to (null is now). */
export type StripMove = { kind: 'window'; top: number } | { kind: 'now'; position: number | null };

/** The time strip: keeps its miniature between pictures, and follows a hand on the window or on the "now" pill. */
export class Strip {
  private readonly miniature = document.createElement('canvas');
  private key = '';
  private grabbed: { kind: 'window' | 'now'; offset: number } | null = null;

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
    paintStripMarks(ctx, frame, asOf, palette);
  }

  /** A hand takes hold, moves or lets go at a height; says where that leads. */
  drag(phase: 'start' | 'drag' | 'end', y: number, frame: Frame, asOf: number | null, travels: boolean): StripMove | null {
    if (phase === 'start') this.grabbed = grab(y, frame, asOf, travels);
    const { grabbed } = this;
    if (phase === 'end') this.grabbed = null;
    if (!grabbed) return null;
    const units = stripScale(frame.scene, frame).invert(y - grabbed.offset);
    if (grabbed.kind === 'window') return { kind: 'window', top: units };
    if (phase === 'start') return null;
    const { rows, states, height } = frame.scene;
    if (units >= height - 0.6) return { kind: 'now', position: null };
    const above = rows.filter((row) => row.y <= units + 0.5).at(-1);
    return { kind: 'now', position: above ? states[above.index].row.position : 0 };
  }
}

function grab(y: number, frame: Frame, asOf: number | null, travels: boolean): { kind: 'window' | 'now'; offset: number } {
  const pill = pillPlace(frame, asOf);
  if (travels && y >= pill - 3 && y <= pill + PILL.height + 3) {
    // Held at its upper edge, except at "now", where the pill hangs below the newest row.
    return { kind: 'now', offset: asOf === null ? y - stripScale(frame.scene, frame)(frame.scene.height) : y - pill };
  }
  const window = stripWindow(frame);
  if (!window) return { kind: 'window', offset: 0 };
  const inside = y >= window[0] - 3 && y <= window[1] + 3;
  return { kind: 'window', offset: inside ? y - window[0] : (window[1] - window[0]) / 2 };
}
