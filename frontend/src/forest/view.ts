import './forest.css';
import { Board, type Versions } from './board';
import { STEMS_BELOW, type Stage } from './camera';
import { CameraControl } from './camera-control';
import { HoverCard, type HoverMore } from './card';
import { Carrying } from './carrying';
import { Eye } from './eye';
import { frameOf, type Frame } from './frame';
import { Grove } from './grove';
import { nextFocus } from './keys';
import { listenToLifting } from './lifting';
import { GROWING, layoutForest, type Scene } from './layout';
import { marksOf, noMarks, type Marks, type Wanted } from './marks';
import { DURATION, Motion } from './motion';
import { clamp } from './numbers';
import type { DayRange } from './days';
import { HitTest, listenToPointer } from './pointer';
import { Slide } from './slide';
import { watchSurroundings } from './surroundings';
import type { Camera, Drawing, Growing, Localized, StateRow, TreeRow } from './types';

/** What the page does when someone acts on the drawing. */
export interface ForestCallbacks {
  select(id: number | null): void;
  center?(id: number): void;
  /** The card opened (or closed: null); what is returned is added to it. */
  hover?(id: number | null): HoverMore | null | void | Promise<HoverMore | null | void>;
  openFold?(ids: number[]): void;
  /** The camera came to another place, by hand or by itself. */
  zoomChanged?(camera: Camera): void;
  /** The "now" handle was dragged to a position; null is now. */
  asOf?(position: number | null): void;
  /** Days were chosen on the strip; not `done` while a hand still moves, null when it gave up. */
  range?(range: DayRange | null, done: boolean): void;
  /** What can be done with a state is asked for, at a place of the page. */
  menu?(id: number, x: number, y: number): void;
  /** A hand takes a state from its place; where it may go, or null when it stays. */
  lift?(id: number): ReadonlySet<number> | null;
  /** It was let go over another one, or over something of the page. */
  drop?(id: number, over: number | null, at: { x: number; y: number }): void;
  /** No hand carries one any more. Told before a drop is. */
  putBack?(): void;
}

/** Whether a path goes on from another one. */
const startsWith = (path: readonly number[], start: readonly number[]): boolean => start.length > 0 && start.every((id, i) => path[i] === id);

/** Draws a forest into an element and reports what people do with it. Owns no data of the page: it is told all of it. */
export class ForestView {
  private readonly board: Board;
  private readonly grove = new Grove();
  private readonly card = new HoverCard();
  private readonly motion = new Motion(() => this.draw());
  private readonly slide = new Slide(this.motion);
  private readonly eye: Eye;
  private readonly hits = new HitTest();
  private readonly control: CameraControl;
  private readonly cleanups: (() => void)[] = [];

  private readonly wanted: Wanted = { active: null, selected: null, focused: null, localized: null, found: null, asOf: null, picking: null, aim: null };
  /** The state a hand holds, by index. */
  private held = -1;
  private readonly carrying: Carrying;

  private readonly sight: { scene: Scene; stage: Stage; drawing: Drawing; frame: Frame | null } = {
    scene: layoutForest([], []),
    stage: { width: 0, height: 0, phone: false },
    drawing: 'lanes',
    frame: null,
  };
  private marks: Marks = noMarks();
  private readonly versions: Versions = { scene: 0, marks: 0 };

  constructor(
    private readonly container: HTMLElement,
    private readonly callbacks: ForestCallbacks,
  ) {
    this.board = new Board(container, {
      zoomTo: (root) => this.zoomToTree(root),
      brushed: (range, done) => this.callbacks.range?.(range, done),
      redraw: () => this.motion.invalidate(),
    });
    container.append(this.card.element);
    this.eye = new Eye(this.sight, this.motion, (before, slide) => this.cameraMoved(before, slide));
    this.control = new CameraControl(this.board.canvas, {
      camera: () => this.eye.camera,
      hold: (camera) => this.eye.hold(camera),
      range: () => this.eye.range(),
      zoomsAcross: () => this.sight.drawing === 'tree',
      moved: (camera) => this.eye.byHand(camera),
      holdsState: () => this.held >= 0,
      onStrip: (x) => this.sight.frame !== null && this.sight.frame.stripShown && this.sight.scene.states.length > 0 && x >= this.sight.frame.strip.x - 4,
      stripDrag: (phase, y) => this.dragStrip(phase, y),
      stripAt: (y) => (this.sight.frame ? this.board.strip.at(y, this.sight.frame, this.wanted.asOf, this.callbacks.asOf !== undefined) : ''),
    });
    this.carrying = new Carrying(this.board.canvas, {
      targets: (id) => this.callbacks.lift?.(id) ?? null,
      pick: (picking) => this.setPicking(picking),
      aim: (x, y) => this.aimAt(x, y),
      over: () => (this.wanted.aim !== null && this.wanted.picking?.targets.has(this.wanted.aim) ? this.wanted.aim : null),
      height: () => this.sight.stage.height,
      scroll: (by) => {
        this.eye.byHand({ ...this.eye.camera, top: this.eye.camera.top + by / this.eye.camera.unit });
        this.draw();
      },
      putBack: () => this.callbacks.putBack?.(),
      drop: (id, over, at) => this.callbacks.drop?.(id, over, at),
    });
    this.cleanups.push(
      listenToPointer(this.board.canvas, {
        hit: (x, y, reach) => this.hits.at(x, y, reach),
        over: (index) => this.hoverOver(index),
        rest: (index) => this.showCard(index),
        click: (index) => this.choose(index),
        doubleClick: (index) => {
          const state = this.sight.scene.states[index];
          if (!state || state.growing) return;
          this.centerOn(state.row.id);
          this.callbacks.center?.(state.row.id);
        },
        menu: (index, x, y) => {
          const state = this.sight.scene.states[index];
          if (state && !state.growing && !this.isHidden(state.row.id)) this.callbacks.menu?.(state.row.id, x, y);
        },
      }),
      listenToLifting(this.board.canvas, {
        node: (x, y, reach) => (this.sight.frame?.mode === 'stems' ? -1 : this.hits.nodeAt(x, y, reach)),
        isHandle: (index) => index === this.marks.selected,
        canLift: (index) => {
          const state = this.sight.scene.states[index];
          return this.callbacks.lift !== undefined && this.wanted.picking === null && state !== undefined && !state.growing && !this.isHidden(state.row.id);
        },
        held: (index) => {
          this.held = index;
          this.board.canvas.classList.toggle('held', index >= 0);
        },
        lift: (index) => {
          this.hoverOver(-1);
          this.carrying.lift(this.sight.scene.states[index].row.id);
        },
        carry: (x, y) => this.carrying.carry(x, y),
        drop: (event) => this.carrying.drop(event),
        cancel: () => this.carrying.putDown(),
      }),
    );
    this.listen();
  }

  // ---- the forest -------------------------------------------------------------------------------------------------

  /** Shows a forest: its states, trees and active state. Replaces what was shown. */
  setStates(rows: readonly StateRow[], trees: readonly TreeRow[], active: number | null): void {
    this.grove.set(rows, trees);
    this.wanted.active = active;
    this.rebuild(false);
  }

  /** A state was committed: it grows onto its branch, edge first, then its disc. */
  addState(row: StateRow, tree?: TreeRow | null): void {
    const known = this.grove.rows.has(row.id);
    // The last picture may still show it as the answer under way, even if that was taken away since.
    const { frame } = this.sight;
    const from = frame?.scene.byId.get(GROWING);
    const same = frame && from !== undefined && frame.scene.states[from].row.parent === row.parent;
    const place = same ? { x: frame.xs[from], y: frame.ys[from] } : null;
    this.grove.put(row, tree);
    if (this.grove.growing?.parent === row.parent) this.grove.growing = null;
    this.wanted.active = row.id;
    this.rebuild(true, place ? [[row.id, place]] : []);
    if (!known) this.grow(row.id);
  }

  /** A state changed: its memory was refined, or it was moved. What follows it is laid out again, animated. */
  updateState(row: StateRow, tree?: TreeRow | null): void {
    this.grove.put(row, tree);
    this.rebuild(true);
  }

  /** States were deleted. */
  removeStates(ids: Iterable<number>): void {
    for (const id of ids) {
      this.grove.remove(id);
      if (this.wanted.active === id) this.wanted.active = null;
      if (this.wanted.selected === id) this.wanted.selected = null;
      if (this.wanted.focused === id) this.wanted.focused = null;
    }
    this.rebuild(true);
  }

  /** Where new turns continue by default. */
  setActive(id: number | null): void {
    this.wanted.active = id;
    this.remark();
  }

  // ---- what is marked ---------------------------------------------------------------------------------------------

  /** Chooses a state; its run unfolds if it was hidden. */
  setSelection(id: number | null): void {
    if (id === this.wanted.selected) return;
    this.wanted.selected = id;
    this.reveal(id);
  }

  /** Lights the path a turn was placed on, root first, and lets the candidates glow; null puts the light out. */
  setLocalized(localized: Localized | null): void {
    const before = this.wanted.localized;
    this.wanted.localized = localized;
    const hidden = localized?.candidates.some((c) => c.state !== null && this.isHidden(c.state));
    if (hidden) this.rebuild(true);
    else this.remark();
    if (!localized) {
      this.motion.stop('light');
      this.motion.stop('glow');
      return;
    }
    // What is lit already stays lit: only a path that leads elsewhere runs down anew.
    if (before && startsWith(localized.path, before.path) && !localized.candidates.length) return;
    this.motion.run('light', DURATION.light, (t) => {
      // The halo runs ahead of the line.
      this.marks.halo = Math.min(1, t * 1.5);
      this.marks.line = t;
    });
    this.motion.run('glow', DURATION.fade + DURATION.sink, (t) => {
      for (const glow of this.marks.glows.values()) {
        glow.shown = Math.min(1, t * 2);
        glow.sunk = clamp(t * 2 - 1, 0, 1);
      }
    });
  }

  /** Shows the answer under way below its parent, dotted; null takes it away. */
  setGrowing(growing: Growing | null): void {
    const appears = growing !== null && (this.grove.growing === null || this.grove.growing.parent !== growing.parent);
    this.grove.growing = growing;
    this.rebuild(true);
    if (appears) this.grow(GROWING);
  }

  /** Dims everything but these states (search, filters); null shows all. */
  setHits(ids: Iterable<number> | null): void {
    this.wanted.found = ids ? new Set(ids) : null;
    this.rebuild(true);
  }

  /** The same while a hand still chooses: nothing is laid out anew under it. */
  previewHits(ids: Iterable<number> | null): void {
    this.wanted.found = ids ? new Set(ids) : null;
    this.remark();
  }

  /** Shows which days are looked at, on the strip. */
  setRange(range: DayRange): void {
    this.board.brush.set(range);
  }

  /** Days and times are those of this zone. */
  setZone(zone: string): void {
    if (zone === this.grove.zone) return;
    this.grove.zone = zone;
    this.rebuild(false);
  }

  /** Dims what came after a position; null is now. */
  setAsOf(position: number | null): void {
    this.wanted.asOf = position;
    this.remark();
  }

  /** A place is looked for: what can be one is lit, the rest dimmed; null ends it. */
  setPicking(picking: Wanted['picking']): void {
    this.wanted.picking = picking;
    this.wanted.aim = null;
    if (picking?.state != null) this.reveal(picking.state);
    else this.remark();
  }

  // ---- the drawing and its camera ---------------------------------------------------------------------------------

  /** Lanes by time, or tidy trees side by side. */
  setDrawing(drawing: Drawing): void {
    if (drawing === this.sight.drawing) return;
    const before = Slide.places(this.sight.frame);
    this.sight.drawing = drawing;
    this.relay();
    this.eye.restart();
    this.control.sync();
    this.slide.start(before);
  }

  /** Brings the whole forest into view. */
  fit(): void {
    this.eye.fit();
  }

  /** Brings a state into the middle. */
  centerOn(id: number): void {
    if (this.isHidden(id)) this.unfold(id);
    const index = this.sight.scene.byId.get(id);
    if (index !== undefined) this.eye.centre(index);
  }

  /** Brings a state into view when it isn't; of several the last, when none is. */
  show(...ids: number[]): void {
    const known = ids.flatMap((id) => this.sight.scene.byId.get(id) ?? []);
    if (known.length && this.sight.frame && !this.eye.shows(...known)) this.eye.centre(known[known.length - 1]);
  }

  /** Brings a whole tree into view. */
  zoomToTree(root: number): void {
    this.eye.tree(root);
  }

  /** Where the eye is, for the URL. */
  getCamera(): Camera {
    return { ...this.eye.camera };
  }

  /** Puts the eye there, at once. */
  setCamera(camera: Camera): void {
    this.eye.set(camera);
  }

  /** Where a state is drawn, in CSS px from the canvas' corner; a folded one is where its capsule is. */
  placeOf(id: number): { x: number; y: number } | null {
    const index = this.sight.scene.byId.get(id);
    const frame = this.currentFrame();
    return index === undefined || !frame ? null : { x: frame.xs[index], y: frame.ys[index] };
  }

  /** Whether a state is on the lit path. */
  isLit(id: number): boolean {
    const index = this.sight.scene.byId.get(id);
    return index !== undefined && this.marks.onPath.has(index);
  }

  /** How many states are hidden in capsules. */
  foldedCount(): number {
    return this.sight.scene.folds.reduce((sum, fold) => sum + fold.ids.length, 0);
  }

  /** Handles a key as the drawing would with the focus in it; true if it meant something here. */
  handleKey(event: KeyboardEvent): boolean {
    if (event.ctrlKey || event.metaKey || event.altKey) return false;
    if (event.key === 'f') {
      this.fit();
      return true;
    }
    const from = this.wanted.focused ?? this.wanted.selected ?? this.wanted.active;
    const current = from === null ? undefined : this.sight.scene.byId.get(from);
    if ((event.key === 'Enter' || event.key === ' ') && this.wanted.focused !== null) {
      this.callbacks.select(this.wanted.focused);
      return true;
    }
    if ((event.key === 'ContextMenu' || (event.key === 'F10' && event.shiftKey)) && from !== null) {
      const place = this.placeOf(from);
      const box = this.container.getBoundingClientRect();
      if (place) this.callbacks.menu?.(from, box.left + clamp(place.x + 12, 8, box.width - 8), box.top + clamp(place.y, 8, box.height - 8));
      return place !== null;
    }
    const next = nextFocus(this.sight.scene, current ?? -1, event.key);
    if (next === null) return false;
    this.focusOn(this.sight.scene.states[next].row.id);
    return true;
  }

  /** What is in view as SVG; the strip is left out. */
  toSvg(title: string): Promise<string> {
    const frame = this.currentFrame();
    return frame ? this.board.svg(frame, this.marks, this.versions, title) : Promise.resolve('');
  }

  /** The same as pixels. */
  toPng(): Promise<Blob | null> {
    const frame = this.currentFrame();
    return frame ? this.board.png(frame, this.marks, this.versions) : Promise.resolve(null);
  }

  /** Gives everything back. */
  destroy(): void {
    for (const cleanup of this.cleanups) cleanup();
    this.control.destroy();
    this.board.brush.destroy();
    this.motion.destroy();
    this.container.replaceChildren();
    this.container.classList.remove('forest-view');
  }

  // ---- inside: layout and marks -----------------------------------------------------------------------------------

  private isHidden(id: number): boolean {
    const index = this.sight.scene.byId.get(id);
    return index !== undefined && this.sight.scene.states[index].fold !== null && this.sight.drawing === 'lanes';
  }

  private unfold(id: number): void {
    const fold = this.sight.scene.states[this.sight.scene.byId.get(id) ?? -1]?.fold;
    if (!fold) return;
    this.grove.open(fold.key);
    this.callbacks.openFold?.(fold.ids);
    this.rebuild(true);
  }

  private reveal(id: number | null): void {
    if (id !== null && this.isHidden(id)) this.unfold(id);
    else this.remark();
  }

  /** Lays the forest out again, keeping the eye where it was; states slide from where they were. */
  private rebuild(animate: boolean, from: [number, { x: number; y: number }][] = []): void {
    const before = animate ? Slide.places(this.sight.frame) : null;
    if (before) for (const [id, place] of from) before.set(id, place);
    const anchor = this.eye.anchor(this.wanted.selected);
    this.relay();
    this.eye.adapt(anchor);
    this.control.sync();
    this.slide.start(before);
    this.motion.invalidate();
  }

  private relay(): void {
    this.sight.scene = this.grove.scene(this.wanted, this.sight.drawing);
    this.versions.scene++;
    this.remark();
  }

  /** Turns ids into what the painter reads. */
  private remark(): void {
    this.marks = marksOf(this.sight.scene, this.wanted, this.marks);
    this.versions.marks++;
    this.motion.invalidate();
  }

  private grow(id: number): void {
    const index = this.sight.scene.byId.get(id);
    if (index === undefined || this.sight.frame?.mode === 'stems') return;
    const growth = { edge: 0, disc: 0 };
    this.marks.growth = new Map([[index, growth]]);
    this.motion.run('edge', DURATION.edge, (t) => (growth.edge = t));
    this.motion.run(
      'disc',
      DURATION.disc,
      (t) => {
        growth.disc = t;
        if (t >= 1) this.marks.growth.delete(index);
      },
      this.sight.scene.states[index].parent < 0 ? 0 : DURATION.edge,
    );
  }

  /** The camera moved: d3-zoom must know, and at the threshold lanes slide into bands or back. */
  private cameraMoved(before: Camera, slide: boolean): void {
    const after = this.eye.camera;
    const crosses = this.sight.drawing === 'lanes' && after.unit < STEMS_BELOW !== before.unit < STEMS_BELOW;
    if (crosses && slide) this.slide.start(Slide.places(this.sight.frame));
    this.control.sync();
    this.callbacks.zoomChanged?.({ ...after });
    this.motion.invalidate();
  }

  // ---- inside: the picture ----------------------------------------------------------------------------------------

  private currentFrame(): Frame | null {
    if (!this.sight.stage.width || !this.sight.stage.height) return null;
    return this.slide.apply(frameOf(this.sight.scene, this.eye.camera, this.sight.stage, this.sight.drawing));
  }

  private draw(): void {
    const frame = this.currentFrame();
    if (!frame) return;
    this.sight.frame = frame;
    this.hits.show(frame, this.board.draw(frame, this.marks, this.versions));
  }

  // ---- inside: hands and keys -------------------------------------------------------------------------------------

  private aimAt(x: number, y: number): void {
    const index = this.hits.at(x, y, 24);
    this.wanted.aim = index < 0 ? null : this.sight.scene.states[index].row.id;
    this.remark();
    this.marks.hand = { x, y };
  }

  private hoverOver(index: number): void {
    this.board.canvas.classList.toggle('over', index >= 0);
    if (this.wanted.picking && !this.carrying.busy) {
      this.wanted.aim = this.sight.scene.states[index]?.row.id ?? null;
      this.remark();
    }
    if (index < 0 && !this.card.element.hidden) {
      this.card.hide();
      void this.callbacks.hover?.(null);
    }
  }

  private showCard(index: number): void {
    const state = this.sight.scene.states[index];
    const { frame } = this.sight;
    if (!state || !frame || state.growing || (state.fold && this.sight.drawing === 'lanes')) return;
    const [x, y] = [frame.xs[index], frame.ys[index]];
    this.card.show(state, x, y, this.sight.stage, this.sight.scene.zone);
    void Promise.resolve(this.callbacks.hover?.(state.row.id))
      .then((more) => this.card.add(state.row.id, more ?? null, x, y, this.sight.stage))
      .catch(() => undefined);
  }

  private choose(index: number): void {
    this.hoverOver(-1);
    const state = this.sight.scene.states[index];
    if (state?.growing) return;
    if (state?.fold && this.sight.drawing === 'lanes' && this.sight.frame?.mode !== 'stems') this.unfold(state.row.id);
    else this.callbacks.select(state ? state.row.id : null);
  }

  private focusOn(id: number): void {
    this.wanted.focused = id;
    if (this.wanted.picking) this.wanted.aim = id;
    this.reveal(id);
    const index = this.sight.scene.byId.get(id);
    if (index !== undefined && !this.eye.shows(index)) this.centerOn(id);
  }

  private dragStrip(phase: 'start' | 'drag' | 'end', y: number): void {
    const frame = this.currentFrame();
    const move = frame && this.board.strip.drag(phase, y, frame, this.wanted.asOf, this.callbacks.asOf !== undefined);
    if (move?.kind === 'window') this.eye.byHand({ ...this.eye.camera, top: move.top });
    else if (move && move.position !== this.wanted.asOf) this.callbacks.asOf?.(move.position);
  }

  private listen(): void {
    this.cleanups.push(watchSurroundings(this.container, { resize: () => this.resize(), theme: () => (this.board.retheme(), this.motion.invalidate()) }));
    const tree = this.board.aria.element;
    tree.addEventListener('focus', () => {
      if (this.wanted.focused === null) this.wanted.focused = this.wanted.selected ?? this.wanted.active ?? this.sight.scene.states.at(-1)?.row.id ?? null;
      this.remark();
    });
    tree.addEventListener('blur', () => {
      this.wanted.focused = null;
      this.remark();
    });
    tree.addEventListener('keydown', (event) => {
      if (this.handleKey(event)) {
        event.preventDefault();
        event.stopPropagation();
      }
    });
    this.resize();
  }

  private resize(): void {
    const { clientWidth: width, clientHeight: height } = this.container;
    if (!width || !height) return;
    const anchor = this.eye.anchor(this.wanted.selected);
    this.sight.stage = { width, height, phone: width < 560 && matchMedia('(max-width: 899px)').matches };
    this.board.resize(this.sight.stage);
    this.eye.adapt(anchor, true);
    this.control.sync();
    this.draw(); // Now, not one frame later: it would flicker.
  }
}
