import './forest.css';
import { AriaTree } from './aria';
import { firstUnit, fitUnit, holdCamera, lookAt, MARGIN, STEMS_BELOW, unitRange, type Stage } from './camera';
import { CameraControl } from './camera-control';
import { HoverCard, type HoverMore } from './card';
import { scrolledTrees, TreeChips } from './chips';
import { paint } from './draw';
import { paintMiniature, paintStripMarks, pillPlace, PILL, stripScale, stripWindow } from './draw-strip';
import { frameOf, type Frame } from './frame';
import { nextFocus } from './keys';
import { LabelLayer } from './label-layer';
import { daysOf, LabelPlan, namesOf } from './labelling';
import { GROWING, layoutForest, type Scene } from './layout';
import { noMarks, type Marks } from './marks';
import { DURATION, Motion } from './motion';
import { clamp, lerp } from './numbers';
import { readPalette, type Palette } from './palette';
import { HitTest, listenToPointer } from './pointer';
import { paintPromise } from './promise';
import { gatherStems } from './stems';
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
}

/** More states in view than this and nothing moves state by state. */
const MOVING = 500;

/** Draws a forest into an element and reports what people do with it. Owns no data of the page: it is told all of it. */
export class ForestView {
  private readonly canvas = document.createElement('canvas');
  private readonly ctx: CanvasRenderingContext2D;
  private readonly miniature = document.createElement('canvas');
  private readonly layer = new LabelLayer();
  private readonly card = new HoverCard();
  private readonly chips = new TreeChips((root) => this.zoomToTree(root));
  private readonly aria = new AriaTree('Forest of turns');
  private readonly sentence = document.createElement('div');
  private readonly motion = new Motion(() => this.draw());
  private readonly hits = new HitTest();
  private readonly plan = new LabelPlan();
  private readonly control: CameraControl;
  private readonly cleanups: (() => void)[] = [];

  private readonly rows = new Map<number, StateRow>();
  private readonly trees = new Map<number, TreeRow>();
  private readonly opened = new Set<number>();
  private active: number | null = null;
  private selected: number | null = null;
  private focused: number | null = null;
  private localized: Localized | null = null;
  private growing: Growing | null = null;
  private found: ReadonlySet<number> | null = null;
  private asOf: number | null = null;
  private drawing: Drawing = 'lanes';
  private spacing: 'position' | 'time' = 'position';

  private stage: Stage = { width: 0, height: 0, phone: false };
  private camera: Camera = { unit: 22, top: 0, left: 0 };
  /** What the camera does when the forest grows: keep it all in view, keep the newest in view, or stay. */
  private follow: 'fit' | 'newest' | 'stay' = 'fit';
  private placed = false;
  private scene: Scene = layoutForest([], []);
  private marks: Marks = noMarks();
  private palette: Palette;
  private frame: Frame | null = null;
  /** Changes with scene and marks, so that what is kept between frames is made anew. */
  private version = 0;
  private miniatureKey = '';
  private before: Map<number, { x: number; y: number }> | null = null;
  private blend = 1;
  private grabbed: { kind: 'window' | 'now'; offset: number } | null = null;

  constructor(
    private readonly container: HTMLElement,
    private readonly callbacks: ForestCallbacks,
  ) {
    const ctx = this.canvas.getContext('2d');
    if (!ctx) throw new Error('This browser has no canvas to draw on.');
    this.ctx = ctx;
    container.classList.add('forest-view');
    this.sentence.className = 'forest-promise';
    this.sentence.textContent = 'Your first turn plants the first tree';
    this.canvas.setAttribute('aria-hidden', 'true');
    container.append(this.canvas, this.layer.element, this.sentence, this.chips.element, this.aria.element, this.card.element);
    this.palette = readPalette(container);
    this.control = new CameraControl(this.canvas, {
      camera: () => this.camera,
      hold: (camera) => holdCamera(camera, this.scene, this.stage, this.drawing),
      range: () => unitRange(this.scene, this.stage, this.drawing),
      zoomsAcross: () => this.drawing === 'tree',
      moved: (camera) => this.moveByHand(camera),
      onStrip: (x) => this.frame !== null && this.scene.states.length > 0 && x >= this.frame.strip.x - 4,
      stripDrag: (phase, y) => this.dragStrip(phase, y),
    });
    this.cleanups.push(
      listenToPointer(this.canvas, {
        hit: (x, y, reach) => this.hits.at(x, y, reach),
        over: (index) => this.hoverOver(index),
        rest: (index) => this.showCard(index),
        click: (index) => this.choose(index),
        doubleClick: (index) => index >= 0 && !this.scene.states[index].growing && this.centre(this.scene.states[index].row.id),
      }),
    );
    this.listen();
  }

  // ---- the forest -------------------------------------------------------------------------------------------------

  /** Shows a forest: its states, trees and active state. Replaces what was shown. */
  setStates(rows: readonly StateRow[], trees: readonly TreeRow[], active: number | null): void {
    this.rows.clear();
    this.trees.clear();
    for (const row of rows) this.rows.set(row.id, row);
    for (const tree of trees) this.trees.set(tree.root, tree);
    this.active = active;
    this.rebuild(false);
  }

  /** A state was committed: it grows onto its branch, edge first, then its disc. */
  addState(row: StateRow, tree?: TreeRow | null): void {
    const known = this.rows.has(row.id);
    const from = this.frame && this.growing && this.growing.parent === row.parent ? this.scene.byId.get(GROWING) : undefined;
    const place = from === undefined || !this.frame ? null : { x: this.frame.xs[from], y: this.frame.ys[from] };
    this.rows.set(row.id, row);
    if (tree) this.trees.set(tree.root, tree);
    if (place) this.growing = null;
    this.active = row.id;
    this.rebuild(true, place ? [[row.id, place]] : []);
    if (!known) this.grow(row.id);
  }

  /** A state changed: its memory was refined, or it was moved. What follows it is laid out again, animated. */
  updateState(row: StateRow, tree?: TreeRow | null): void {
    this.rows.set(row.id, row);
    if (tree) this.trees.set(tree.root, tree);
    this.rebuild(true);
  }

  /** States were deleted. */
  removeStates(ids: Iterable<number>): void {
    for (const id of ids) {
      this.rows.delete(id);
      this.trees.delete(id);
      if (this.active === id) this.active = null;
      if (this.selected === id) this.selected = null;
      if (this.focused === id) this.focused = null;
    }
    this.rebuild(true);
  }

  /** Where new turns continue by default. */
  setActive(id: number | null): void {
    this.active = id;
    this.remark();
  }

  // ---- what is marked ---------------------------------------------------------------------------------------------

  /** Chooses a state; its run unfolds if it was hidden. */
  setSelection(id: number | null): void {
    if (id === this.selected) return;
    this.selected = id;
    this.reveal(id);
  }

  /** Lights the path a turn was placed on, root first, and lets the candidates glow; null puts the light out. */
  setLocalized(localized: Localized | null): void {
    this.localized = localized;
    this.motion.stop('light');
    this.motion.stop('glow');
    const hidden = localized?.candidates.some((c) => c.state !== null && this.isHidden(c.state));
    if (hidden) this.rebuild(true);
    else this.remark();
    if (!localized) return;
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
    const appears = growing !== null && (this.growing === null || this.growing.parent !== growing.parent);
    this.growing = growing;
    this.rebuild(true);
    if (appears) this.grow(GROWING);
  }

  /** Dims everything but these states (search, filters); null shows all. */
  setHits(ids: Iterable<number> | null): void {
    this.found = ids ? new Set(ids) : null;
    this.rebuild(true);
  }

  /** Dims what came after a position; null is now. */
  setAsOf(position: number | null): void {
    this.asOf = position;
    this.remark();
  }

  // ---- the drawing and its camera ---------------------------------------------------------------------------------

  /** Lanes by time, or tidy trees side by side. */
  setDrawing(drawing: Drawing): void {
    if (drawing === this.drawing) return;
    const before = this.snapshot();
    this.drawing = drawing;
    this.relay();
    this.camera = { unit: drawing === 'tree' ? fitUnit(this.scene, this.stage, drawing) : firstUnit(this.scene, this.stage), top: 0, left: 0 };
    if (drawing === 'lanes') this.camera.top = this.scene.height;
    this.settleCamera(this.camera, false);
    this.blendFrom(before);
  }

  /** Even rows, or silence as a gap as well. */
  setSpacing(spacing: 'position' | 'time'): void {
    this.spacing = spacing;
    this.rebuild(true);
  }

  /** Brings the whole forest into view. */
  fit(): void {
    this.follow = 'fit';
    this.flyTo({ unit: fitUnit(this.scene, this.stage, this.drawing), top: 0, left: 0 });
  }

  /** Brings a state into the middle. */
  centerOn(id: number): void {
    if (this.isHidden(id)) this.unfold(id);
    const index = this.scene.byId.get(id);
    if (index === undefined || !this.frame) return;
    const state = this.scene.states[index];
    this.follow = 'stay';
    const unit = this.drawing === 'lanes' && this.camera.unit < 8 ? 22 : this.camera.unit;
    const y = this.drawing === 'tree' ? state.tree.y : state.y;
    const x = this.drawing === 'tree' ? state.tree.x * unit : state.lane * this.frame.pitch;
    const across = this.drawing === 'tree' ? this.stage.width / 2 : (this.frame.label - this.frame.lane0) / 2;
    this.flyTo(lookAt({ ...this.camera, unit, left: x - across }, y, this.stage));
  }

  /** Brings a whole tree into view. */
  zoomToTree(root: number): void {
    const index = this.scene.byId.get(root);
    if (index === undefined) return;
    const members = this.scene.states.filter((s) => s.row.root === root);
    this.follow = 'stay';
    if (this.drawing === 'tree') return this.centerOn(root);
    const low = members[0].y - 1;
    const high = members.reduce((most, s) => Math.max(most, s.y), 0) + 1.5;
    const unit = clamp((this.stage.height - MARGIN.top - MARGIN.bottom) / (high - low), unitRange(this.scene, this.stage, 'lanes')[0], this.stage.phone ? 32 : 22);
    this.flyTo({ ...this.camera, unit, top: low });
  }

  /** Where the eye is, for the URL. */
  getCamera(): Camera {
    return { ...this.camera };
  }

  /** Puts the eye there, at once. */
  setCamera(camera: Camera): void {
    this.follow = 'stay';
    this.placed = true;
    this.motion.stop('camera');
    this.settleCamera(camera, false);
  }

  /** Where a state is drawn, in CSS px from the canvas' corner; a folded one is where its capsule is. */
  placeOf(id: number): { x: number; y: number } | null {
    const index = this.scene.byId.get(id);
    const frame = this.currentFrame();
    return index === undefined || !frame ? null : { x: frame.xs[index], y: frame.ys[index] };
  }

  /** Whether a state is on the lit path. */
  isLit(id: number): boolean {
    const index = this.scene.byId.get(id);
    return index !== undefined && this.marks.onPath.has(index);
  }

  /** How many states are hidden in capsules. */
  foldedCount(): number {
    return this.scene.folds.reduce((sum, fold) => sum + fold.ids.length, 0);
  }

  /** Handles a key as the drawing would with the focus in it; true if it meant something here. */
  handleKey(event: KeyboardEvent): boolean {
    if (event.ctrlKey || event.metaKey || event.altKey) return false;
    if (event.key === 'f') {
      this.fit();
      return true;
    }
    const from = this.focused ?? this.selected ?? this.active;
    const current = from === null ? undefined : this.scene.byId.get(from);
    if ((event.key === 'Enter' || event.key === ' ') && this.focused !== null) {
      this.callbacks.select(this.focused);
      return true;
    }
    const next = nextFocus(this.scene, current ?? -1, event.key);
    if (next === null) return false;
    this.focusOn(this.scene.states[next].row.id);
    return true;
  }

  /** A picture of what is in view. */
  toBlob(): Promise<Blob | null> {
    return new Promise((done) => this.canvas.toBlob(done));
  }

  /** Gives everything back. */
  destroy(): void {
    for (const cleanup of this.cleanups) cleanup();
    this.control.destroy();
    this.motion.destroy();
    this.container.replaceChildren();
    this.container.classList.remove('forest-view');
  }

  // ---- inside: layout and marks -----------------------------------------------------------------------------------

  private isHidden(id: number): boolean {
    const index = this.scene.byId.get(id);
    return index !== undefined && this.scene.states[index].fold !== null && this.drawing === 'lanes';
  }

  private unfold(id: number): void {
    const fold = this.scene.states[this.scene.byId.get(id) ?? -1]?.fold;
    if (!fold) return;
    this.opened.add(fold.key);
    this.callbacks.openFold?.(fold.ids);
    this.rebuild(true);
  }

  private reveal(id: number | null): void {
    if (id !== null && this.isHidden(id)) this.unfold(id);
    else this.remark();
  }

  /** Lays the forest out again, keeping the eye where it was; states slide from where they were. */
  private rebuild(animate: boolean, from: [number, { x: number; y: number }][] = []): void {
    const before = animate ? this.snapshot() : null;
    if (before) for (const [id, place] of from) before.set(id, place);
    const anchor = this.anchor();
    const wasEmpty = !this.placed;
    this.relay();
    if (!this.scene.states.length) this.placed = false;
    else if (wasEmpty) this.placeFirst();
    else this.keepEye(anchor);
    this.control.sync();
    if (before) this.blendFrom(before);
    this.motion.invalidate();
  }

  private relay(): void {
    const keep = new Set(this.found ?? []);
    for (const c of this.localized?.candidates ?? []) if (c.state !== null) keep.add(c.state);
    if (this.active !== null) keep.add(this.active);
    this.scene = layoutForest([...this.rows.values()], [...this.trees.values()], {
      opened: this.opened,
      keep,
      growing: this.growing,
      spacing: this.spacing,
      drawing: this.drawing,
    });
    this.remark();
  }

  /** Turns ids into what the painter reads. */
  private remark(): void {
    const { byId } = this.scene;
    const indexOf = (id: number | null | undefined): number => (id === null || id === undefined ? -1 : (byId.get(id) ?? -1));
    const { halo, line, glows, growth } = this.marks;
    const path = (this.localized?.path ?? []).map(indexOf).filter((i) => i >= 0);
    const candidates = (this.localized?.candidates ?? []).filter((c) => c.state !== null && c.probability >= 0.01 && byId.has(c.state));
    const shown = [...glows.values()][0] ?? { shown: 1, sunk: 1 };
    this.marks = {
      active: indexOf(this.active),
      selected: indexOf(this.selected),
      focused: indexOf(this.focused),
      path: path.length ? path : null,
      onPath: new Set(path),
      halo,
      line,
      glows: new Map(candidates.slice(0, 5).map((c) => [indexOf(c.state), { probability: c.probability, shown: shown.shown, sunk: shown.sunk }])),
      hits: this.found ? new Set([...this.found].map(indexOf)) : null,
      asOf: this.asOf,
      growth: new Map([...growth].filter(([i]) => i < this.scene.states.length)),
    };
    this.version++;
    this.motion.invalidate();
  }

  private grow(id: number): void {
    const index = this.scene.byId.get(id);
    if (index === undefined || (this.frame && this.scene.states.length > MOVING && this.frame.mode === 'stems')) return;
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
      this.scene.states[index].parent < 0 ? 0 : DURATION.edge,
    );
  }

  // ---- inside: the eye --------------------------------------------------------------------------------------------

  private placeFirst(): void {
    if (!this.stage.height) return;
    this.placed = true;
    const unit = firstUnit(this.scene, this.stage);
    this.follow = unit * this.scene.height + MARGIN.top + MARGIN.bottom <= this.stage.height ? 'fit' : 'newest';
    this.camera = holdCamera({ unit, top: this.scene.height, left: 0 }, this.scene, this.stage, this.drawing);
  }

  /** A state in view and its place, to keep it there. */
  private anchor(): { id: number; y: number } | null {
    const { frame } = this;
    if (!frame) return null;
    const middle = frame.stage.height / 2;
    const own = this.selected === null ? undefined : frame.scene.byId.get(this.selected);
    if (own !== undefined && frame.ys[own] > 0 && frame.ys[own] < frame.stage.height) return { id: this.selected as number, y: frame.ys[own] };
    let best = -1;
    for (let i = 0; i < frame.ys.length; i++) if (best < 0 || Math.abs(frame.ys[i] - middle) < Math.abs(frame.ys[best] - middle)) best = i;
    return best < 0 ? null : { id: frame.scene.states[best].row.id, y: frame.ys[best] };
  }

  private keepEye(anchor: { id: number; y: number } | null): void {
    const { unit, left } = this.camera;
    let camera = this.camera;
    if (this.follow === 'fit' && this.drawing === 'lanes') camera = { unit: Math.max(fitUnit(this.scene, this.stage), Math.min(unit, 10.5)), top: this.scene.height, left };
    else if (this.follow === 'newest' && this.drawing === 'lanes') camera = { unit, top: this.scene.height, left };
    else {
      const index = anchor ? this.scene.byId.get(anchor.id) : undefined;
      if (anchor && index !== undefined) {
        const { y, tree } = this.scene.states[index];
        camera = { unit, top: (this.drawing === 'tree' ? tree.y + 0.95 : y) + (MARGIN.top - anchor.y) / unit, left };
      }
    }
    this.camera = holdCamera(camera, this.scene, this.stage, this.drawing);
  }

  private flyTo(target: Camera): void {
    const from = this.camera;
    const to = holdCamera(target, this.scene, this.stage, this.drawing);
    // The point at rest between two zooms moves in a straight line if heights change by a factor.
    this.motion.run('camera', DURATION.camera, (t) => {
      const unit = from.unit * (to.unit / from.unit) ** t;
      const share = Math.abs(to.unit - from.unit) < 1e-6 ? t : (1 / from.unit - 1 / unit) / (1 / from.unit - 1 / to.unit);
      this.settleCamera({ unit, top: lerp(from.top, to.top, share), left: lerp(from.left, to.left, t) }, true);
    });
  }

  private moveByHand(camera: Camera): void {
    this.motion.stop('camera');
    this.settleCamera(camera, true);
    const beyond = this.scene.height * camera.unit + MARGIN.top + MARGIN.bottom - this.stage.height;
    this.follow = this.drawing === 'lanes' && beyond > 0 && camera.top * camera.unit >= beyond - 2 ? 'newest' : 'stay';
  }

  private settleCamera(camera: Camera, slide: boolean): void {
    const held = holdCamera(camera, this.scene, this.stage, this.drawing);
    // At the threshold lanes slide into bands and back.
    const crosses = this.drawing === 'lanes' && held.unit < STEMS_BELOW !== this.camera.unit < STEMS_BELOW;
    const before = crosses && slide ? this.snapshot() : null;
    this.camera = held;
    if (before) this.blendFrom(before);
    this.control.sync();
    this.callbacks.zoomChanged?.({ ...held });
    this.motion.invalidate();
  }

  /** Where everything is now, by id; null when there is too much to move. */
  private snapshot(): Map<number, { x: number; y: number }> | null {
    const { frame } = this;
    if (!frame) return null;
    let visible = 0;
    for (const y of frame.ys) if (y > -40 && y < frame.stage.height + 40) visible++;
    if (visible > MOVING) return null;
    return new Map(frame.scene.states.map((s) => [s.row.id, { x: frame.xs[s.index], y: frame.ys[s.index] }]));
  }

  private blendFrom(before: Map<number, { x: number; y: number }> | null): void {
    if (!before) return;
    this.before = before;
    this.motion.run('relay', DURATION.relay, (t) => {
      this.blend = t;
      if (t >= 1) this.before = null;
    });
  }

  // ---- inside: the picture ----------------------------------------------------------------------------------------

  private currentFrame(): Frame | null {
    if (!this.stage.width || !this.stage.height) return null;
    const frame = frameOf(this.scene, this.camera, this.stage, this.drawing);
    if (this.before) {
      for (const state of this.scene.states) {
        const from = this.before.get(state.row.id);
        if (!from) continue;
        frame.xs[state.index] = lerp(from.x, frame.xs[state.index], this.blend);
        frame.ys[state.index] = lerp(from.y, frame.ys[state.index], this.blend);
      }
    }
    return frame;
  }

  private draw(): void {
    const frame = this.currentFrame();
    if (!frame) return;
    const { ctx, marks, palette, stage } = this;
    const ratio = window.devicePixelRatio || 1;
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.frame = frame;
    const empty = !this.scene.states.length;
    this.sentence.hidden = !empty;
    this.layer.element.hidden = empty;
    if (empty) {
      const { x, y } = paintPromise(ctx, stage, palette);
      this.sentence.style.transform = `translate(${Math.round(x)}px, ${Math.round(y)}px)`;
      this.chips.show([]);
      this.aria.show(this.scene, marks);
      return;
    }
    const { standing, texts } = this.plan.labels(frame, marks, this.version);
    const days = daysOf(frame);
    const stems = frame.mode === 'stems' ? gatherStems(frame) : null;
    paint(ctx, { frame, marks, palette, labels: standing, days: days.standing, stems });
    if (frame.mode !== 'tree') this.drawStrip(frame);
    this.layer.showLabels(texts, frame);
    this.layer.showDays(days.texts);
    ctx.font = `650 13px ${palette.font}`;
    this.layer.showNames(namesOf(frame, marks, stems, (text) => ctx.measureText(text).width));
    this.hits.show(frame, standing);
    this.chips.show(scrolledTrees(frame));
    this.aria.show(this.scene, marks);
  }

  private drawStrip(frame: Frame): void {
    const { stage, ctx, palette } = this;
    const ratio = window.devicePixelRatio || 1;
    const range = stripScale(this.scene, frame).range();
    const key = [this.version, stage.width, stage.height, ratio, palette.paper, range[1]].join();
    if (key !== this.miniatureKey) {
      this.miniatureKey = key;
      this.miniature.width = Math.ceil(frame.strip.width * ratio);
      this.miniature.height = Math.ceil(stage.height * ratio);
      const small = this.miniature.getContext('2d');
      if (small) {
        small.setTransform(ratio, 0, 0, ratio, 0, 0);
        paintMiniature(small, this.scene, frame, palette);
      }
    }
    ctx.drawImage(this.miniature, frame.strip.x, 0, this.miniature.width / ratio, this.miniature.height / ratio);
    paintStripMarks(ctx, frame, this.asOf, palette);
  }

  // ---- inside: hands and keys -------------------------------------------------------------------------------------

  private hoverOver(index: number): void {
    this.canvas.classList.toggle('over', index >= 0);
    if (index < 0 && !this.card.element.hidden) {
      this.card.hide();
      void this.callbacks.hover?.(null);
    }
  }

  private showCard(index: number): void {
    const state = this.scene.states[index];
    const { frame } = this;
    if (!state || !frame || state.growing || (state.fold && this.drawing === 'lanes')) return;
    const [x, y] = [frame.xs[index], frame.ys[index]];
    this.card.show(state, x, y, this.stage);
    void Promise.resolve(this.callbacks.hover?.(state.row.id))
      .then((more) => this.card.add(state.row.id, more ?? null, x, y, this.stage))
      .catch(() => undefined);
  }

  private choose(index: number): void {
    this.hoverOver(-1);
    const state = this.scene.states[index];
    if (state?.growing) return;
    if (state?.fold && this.drawing === 'lanes' && this.frame?.mode !== 'stems') this.unfold(state.row.id);
    else this.callbacks.select(state ? state.row.id : null);
  }

  private centre(id: number): void {
    this.centerOn(id);
    this.callbacks.center?.(id);
  }

  private focusOn(id: number): void {
    this.focused = id;
    this.reveal(id);
    const place = this.placeOf(id);
    if (place && (place.y < 50 || place.y > this.stage.height - 30 || place.x < 0 || (this.frame && place.x > this.frame.strip.x))) this.centerOn(id);
  }

  private dragStrip(phase: 'start' | 'drag' | 'end', y: number): void {
    const frame = this.currentFrame();
    if (!frame) return;
    const scale = stripScale(this.scene, frame);
    if (phase === 'start') {
      const pill = pillPlace(frame, this.asOf);
      const window = stripWindow(frame);
      if (this.callbacks.asOf && y >= pill - 3 && y <= pill + PILL.height + 3) this.grabbed = { kind: 'now', offset: y - pill };
      else {
        const inside = window !== null && y >= window[0] - 3 && y <= window[1] + 3;
        this.grabbed = { kind: 'window', offset: inside ? y - window[0] : window ? (window[1] - window[0]) / 2 : 0 };
      }
    }
    if (this.grabbed?.kind === 'now') {
      const units = scale.invert(y - this.grabbed.offset);
      const above = this.scene.rows.filter((row) => row.y <= units + 0.5).at(-1);
      const position = units >= this.scene.height - 0.6 ? null : (above && this.scene.states[above.index].row.position) ?? 0;
      if (phase !== 'start' && position !== this.asOf) this.callbacks.asOf?.(position);
    } else if (this.grabbed) this.moveByHand({ ...this.camera, top: scale.invert(y - this.grabbed.offset) });
    if (phase === 'end') this.grabbed = null;
  }

  private listen(): void {
    const resized = new ResizeObserver(() => this.resize());
    resized.observe(this.container);
    const themed = new MutationObserver(() => this.retheme());
    themed.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme', 'class'] });
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const retheme = (): void => this.retheme();
    dark.addEventListener('change', retheme);
    void document.fonts?.ready.then(() => this.motion.invalidate());
    const tree = this.aria.element;
    tree.addEventListener('focus', () => {
      if (this.focused === null) this.focused = this.selected ?? this.active ?? this.scene.states.at(-1)?.row.id ?? null;
      this.remark();
    });
    tree.addEventListener('blur', () => {
      this.focused = null;
      this.remark();
    });
    tree.addEventListener('keydown', (event) => {
      if (this.handleKey(event)) {
        event.preventDefault();
        event.stopPropagation();
      }
    });
    this.cleanups.push(
      () => resized.disconnect(),
      () => themed.disconnect(),
      () => dark.removeEventListener('change', retheme),
    );
    this.resize();
  }

  private retheme(): void {
    this.palette = readPalette(this.container);
    this.motion.invalidate();
  }

  private resize(): void {
    const { clientWidth: width, clientHeight: height } = this.container;
    if (!width || !height) return;
    const ratio = window.devicePixelRatio || 1;
    const anchor = this.anchor();
    this.stage = { width, height, phone: width < 560 && matchMedia('(max-width: 899px)').matches };
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    if (this.scene.states.length) {
      if (this.placed) this.keepEye(anchor);
      else this.placeFirst();
    }
    this.control.sync();
    // A resized canvas is blank: paint now, not one frame later.
    this.draw();
  }
}
