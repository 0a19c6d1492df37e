import { lerp } from './numbers';
import { DURATION, type Motion } from './motion';
import type { Frame } from './frame';

/** Places on the screen, by id. */
export type Places = Map<number, { x: number; y: number }>;

/** More states in view than this and nothing moves state by state. */
const MOVING = 500;

/** Lets states slide from where they were to where a new layout has them. */
export class Slide {
  private from: Places | null = null;
  private share = 1;

  constructor(private readonly motion: Motion) {}

  /** Where everything is in a frame; null when there is too much to move. */
  static places(frame: Frame | null): Places | null {
    if (!frame) return null;
    let visible = 0;
    for (const y of frame.ys) if (y > -40 && y < frame.stage.height + 40) visible++;
    if (visible > MOVING) return null;
    return new Map(frame.scene.states.map((s) => [s.row.id, { x: frame.xs[s.index], y: frame.ys[s.index] }]));
  }

  /** Starts at these places. */
  start(from: Places | null): void {
    if (!from) return;
    this.from = from;
    this.motion.run('relay', DURATION.relay, (t) => {
      this.share = t;
      if (t >= 1) this.from = null;
    });
  }

  /** Puts a frame's states where they are by now. */
  apply(frame: Frame): Frame {
    if (!this.from) return frame;
    frame.moving = true;
    for (const { row, index } of frame.scene.states) {
      const place = this.from.get(row.id);
      if (!place) continue;
      frame.xs[index] = lerp(place.x, frame.xs[index], this.share);
      frame.ys[index] = lerp(place.y, frame.ys[index], this.share);
    }
    return frame;
  }
}
