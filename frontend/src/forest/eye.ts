import { firstUnit, fitUnit, holdCamera, lookAt, MARGIN, unitRange, type Stage } from './camera';
import { clamp, lerp } from './numbers';
import { DURATION, type Motion } from './motion';
import { frameOf, type Frame } from './frame';
import type { Scene } from './layout';
import type { Camera, Drawing } from './types';

/** What the eye looks at. */
export interface Sight {
  readonly scene: Scene;
  readonly stage: Stage;
  readonly drawing: Drawing;
  readonly frame: Frame | null;
}

/** A state in view and its height on the screen, to keep it there. */
export type Anchor = { id: number; y: number } | null;

/** Moves the camera: keeps it on the forest, follows growth, flies to places. */
export class Eye {
  camera: Camera = { unit: 22, top: 0, left: 0 };
  /** What happens when the forest grows: keep it all in view, keep the newest in view, or stay. */
  private follow: 'fit' | 'newest' | 'stay' = 'fit';
  private placed = false;
  /** Whether anyone chose where to look; until then a new size gets a new first look. */
  private touched = false;
  /** Where the eye is flying. */
  private goal: Camera | null = null;
  /** A camera that was set before there was anything to look at. */
  private waiting: Camera | null = null;

  constructor(
    private readonly sight: Sight,
    private readonly motion: Motion,
    private readonly moved: (before: Camera, slide: boolean) => void,
  ) {}

  /** Keeps a camera on the forest. */
  hold(camera: Camera): Camera {
    return holdCamera(camera, this.sight.scene, this.sight.stage, this.sight.drawing);
  }

  /** The least and the largest unit height. */
  range(): [number, number] {
    return unitRange(this.sight.scene, this.sight.stage, this.sight.drawing);
  }

  /** A state in view: the preferred one, else the one nearest the middle. */
  anchor(preferred: number | null): Anchor {
    const { frame } = this.sight;
    if (!frame) return null;
    const own = preferred === null ? undefined : frame.scene.byId.get(preferred);
    if (preferred !== null && own !== undefined && frame.ys[own] > 0 && frame.ys[own] < frame.stage.height) return { id: preferred, y: frame.ys[own] };
    const middle = frame.stage.height / 2;
    let best = -1;
    for (let i = 0; i < frame.ys.length; i++) if (best < 0 || Math.abs(frame.ys[i] - middle) < Math.abs(frame.ys[best] - middle)) best = i;
    return best < 0 ? null : { id: frame.scene.states[best].row.id, y: frame.ys[best] };
  }

  /** After the forest or the stage changed: looks where it makes sense, without flying. */
  adapt(anchor: Anchor, resized = false): void {
    const { scene, stage, drawing } = this.sight;
    if (!scene.states.length) this.placed = false;
    else if (!this.placed || (resized && !this.touched)) this.first();
    else if (drawing === 'lanes' && this.follow !== 'stay') {
      const { unit, left } = this.camera;
      // All in view as long as rows stay readable; from then on the newest.
      const wished = this.follow === 'fit' ? clamp(fitUnit(scene, stage), Math.min(unit, 10.5), unit) : unit;
      this.camera = this.hold({ unit: wished, top: scene.height, left });
    } else this.camera = this.hold(this.kept(anchor));
  }

  private first(): void {
    const { scene, stage } = this.sight;
    if (!stage.height) return;
    this.placed = true;
    if (this.waiting) {
      this.camera = this.hold(this.waiting);
      this.waiting = null;
      this.touched = true;
      this.follow = this.followed();
      return;
    }
    const unit = firstUnit(scene, stage);
    this.follow = unit * scene.height + MARGIN.top + MARGIN.bottom <= stage.height + 1 ? 'fit' : 'newest';
    this.camera = this.hold({ unit, top: scene.height, left: 0 });
  }

  private kept(anchor: Anchor): Camera {
    const { scene, drawing } = this.sight;
    const index = anchor ? scene.byId.get(anchor.id) : undefined;
    if (!anchor || index === undefined) return this.camera;
    const { y, tree } = scene.states[index];
    const row = drawing === 'tree' ? tree.y + 0.95 : y;
    return { ...this.camera, top: row + (MARGIN.top - anchor.y) / this.camera.unit };
  }

  /** Looks somewhere at once; `slide` lets lanes slide where the drawing changes its kind. */
  look(camera: Camera, slide = false): void {
    const before = this.camera;
    this.camera = this.hold(camera);
    this.moved(before, slide);
  }

  /** Puts the eye somewhere, at once. */
  set(camera: Camera): void {
    const { scene, stage } = this.sight;
    if (!scene.states.length || !stage.height) {
      this.waiting = camera;
      return;
    }
    this.placed = true;
    this.byHand(camera, false);
  }

  /** A hand moved the camera. */
  byHand(camera: Camera, slide = true): void {
    this.motion.stop('camera');
    this.goal = null;
    this.touched = true;
    this.look(camera, slide);
    this.follow = this.followed();
  }

  /** Who has all or the newest in view wants to see what grows; who looks elsewhere wants it to stay. */
  private followed(): 'fit' | 'newest' | 'stay' {
    const { scene, stage, drawing } = this.sight;
    if (drawing === 'tree') return 'stay';
    const beyond = scene.height * this.camera.unit + MARGIN.top + MARGIN.bottom - stage.height;
    if (beyond <= 1) return 'fit';
    return this.camera.top * this.camera.unit >= beyond - 2 ? 'newest' : 'stay';
  }

  /** Whether one of these states is in view, or will be once the eye has arrived. */
  shows(...indexes: number[]): boolean {
    const { scene, stage, drawing } = this.sight;
    const frame = frameOf(scene, this.goal ?? this.camera, stage, drawing);
    const right = drawing === 'tree' ? stage.width : frame.strip.x;
    // Chips cover the upper edge.
    return indexes.some((i) => frame.ys[i] >= 56 && frame.ys[i] <= stage.height - 30 && frame.xs[i] >= 0 && frame.xs[i] <= right);
  }

  /** Looks at a new drawing as a whole. */
  restart(): void {
    const { drawing, scene, stage } = this.sight;
    if (drawing === 'lanes') this.first();
    else this.look({ unit: firstUnit(scene, stage, drawing), top: 0, left: 0 });
  }

  /** Flies until all is in view. */
  fit(): void {
    this.follow = 'fit';
    this.fly({ unit: fitUnit(this.sight.scene, this.sight.stage, this.sight.drawing), top: 0, left: 0 });
  }

  /** Flies until a state is in the middle, near enough to read it. */
  centre(index: number): void {
    const { scene, stage, drawing, frame } = this.sight;
    if (!frame) return;
    const state = scene.states[index];
    this.follow = 'stay';
    const unit = drawing === 'lanes' && this.camera.unit < 8 ? 22 : this.camera.unit;
    const tidy = drawing === 'tree';
    const x = tidy ? state.tree.x * unit : state.lane * frame.pitch;
    const across = tidy ? stage.width / 2 : (frame.label - frame.lane0) / 2;
    this.fly(lookAt({ ...this.camera, unit, left: x - across }, tidy ? state.tree.y : state.y, stage));
  }

  /** Flies until a whole tree is in view. */
  tree(root: number): void {
    const { scene, stage, drawing } = this.sight;
    const index = scene.byId.get(root);
    if (index === undefined) return;
    if (drawing === 'tree') return this.centre(index);
    this.follow = 'stay';
    const low = scene.states[index].y - 1;
    const high = scene.states.reduce((most, s) => (s.row.root === root ? Math.max(most, s.y) : most), low) + 1.5;
    const unit = clamp((stage.height - MARGIN.top - MARGIN.bottom) / (high - low), this.range()[0], stage.phone ? 32 : 22);
    this.fly({ ...this.camera, unit, top: low });
  }

  private fly(target: Camera): void {
    this.touched = true;
    const from = this.camera;
    const to = this.hold(target);
    this.goal = to;
    this.motion.run('camera', DURATION.camera, (t) => {
      const unit = from.unit * (to.unit / from.unit) ** t;
      // Heights change by a factor; the place must follow 1/unit, or the middle of the picture would swing.
      const share = Math.abs(to.unit - from.unit) < 1e-6 ? t : (1 / from.unit - 1 / unit) / (1 / from.unit - 1 / to.unit);
      this.look({ unit, top: lerp(from.top, to.top, share), left: lerp(from.left, to.left, t) }, true);
      if (t >= 1) this.goal = null;
    });
  }
}
