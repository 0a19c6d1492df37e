/** A state in a person's hand: over what it is, and the drawing that goes along at its edges. */

import { clamp } from './numbers';

/** A hand this near to an edge scrolls. */
const EDGE = 36;

/** What carrying asks of the drawing. */
export interface Ground {
  /** Where a state may be put, or null when it stays. */
  targets(id: number): ReadonlySet<number> | null;
  /** Places may be chosen from now on, or no more. */
  pick(picking: { state: number; targets: ReadonlySet<number> } | null): void;
  /** The hand is at a place of the drawing. */
  aim(x: number, y: number): void;
  /** The state under the hand, when what is carried may be put there. */
  over(): number | null;
  height(): number;
  /** Scrolls by so many pixels. */
  scroll(by: number): void;
  /** No hand carries a state any more. */
  putBack(): void;
  /** It was let go. Told after `putBack`. */
  drop(id: number, over: number | null, at: { x: number; y: number }): void;
}

export class Carrying {
  private carried: { id: number; x: number; y: number } | null = null;

  constructor(
    private readonly canvas: HTMLElement,
    private readonly ground: Ground,
  ) {}

  get busy(): boolean {
    return this.carried !== null;
  }

  lift(id: number): void {
    const targets = this.ground.targets(id);
    if (!targets) return;
    this.carried = { id, x: 0, y: 0 };
    this.canvas.classList.add('carrying');
    this.ground.pick({ state: id, targets });
  }

  carry(x: number, y: number): void {
    if (!this.carried) return;
    const scrolls = this.carried.x === 0 && this.carried.y === 0;
    Object.assign(this.carried, { x, y });
    this.ground.aim(x, y);
    if (scrolls) requestAnimationFrame(this.scrollAlong);
  }

  drop(event: PointerEvent): void {
    const { carried } = this;
    const over = this.ground.over();
    this.putDown();
    if (carried) this.ground.drop(carried.id, over, { x: event.clientX, y: event.clientY });
  }

  putDown(): void {
    this.carried = null;
    this.canvas.classList.remove('carrying');
    this.ground.pick(null);
    this.ground.putBack();
  }

  /** A state carried to the upper or lower edge takes the drawing along. */
  private readonly scrollAlong = (): void => {
    const { carried } = this;
    if (!carried) return;
    const height = this.ground.height();
    const past = carried.y < EDGE ? carried.y - EDGE : carried.y > height - EDGE ? carried.y - height + EDGE : 0;
    if (past) {
      this.ground.scroll(clamp(past, -EDGE, EDGE) / 4);
      this.ground.aim(carried.x, carried.y);
    }
    requestAnimationFrame(this.scrollAlong);
  };
}
