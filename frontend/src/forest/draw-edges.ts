import { continueEdge, edge, edgeWidth } from './edges';
import { inView, type Frame } from './frame';
import { FAINT, isFaint, type Marks } from './marks';
import type { Palette } from './palette';
import type { Placed } from './layout';

const OPACITY = 0.9;
const DORMANT = 0.7;
/** Rows without a state after which an edge counts as dormant. */
const DORMANT_ROWS = 9;
/** Extra width of a lit edge, and of its halo. */
const LIT = 1;
const HALO = 9;

type Ctx = CanvasRenderingContext2D;

const samePlace = (frame: Frame, a: Placed, b: Placed): boolean => a.fold !== null && a.fold === b.fold && frame.mode !== 'tree';

function widthOf(frame: Frame, state: Placed): number {
  const width = edgeWidth(state.descendants);
  return frame.mode === 'far' ? width * 0.75 : frame.mode === 'tree' ? width * Math.min(1, 0.4 + frame.unit / 25) : width;
}

/** Whether any part of the edge to this state is in view. */
function edgeInView(frame: Frame, state: Placed): boolean {
  const { parent, index } = state;
  if (parent < 0 || samePlace(frame, state, frame.scene.states[parent])) return false;
  const y0 = frame.ys[parent];
  const y1 = frame.ys[index];
  return Math.max(y0, y1) >= -40 && Math.min(y0, y1) <= frame.stage.height + 40;
}

function strength(frame: Frame, marks: Marks, palette: Palette, state: Placed): number {
  if (isFaint(marks, frame.scene, state.index)) return FAINT;
  let alpha = OPACITY;
  const parent = frame.scene.states[state.parent];
  if (frame.mode !== 'tree' && state.y - parent.y > DORMANT_ROWS) alpha *= DORMANT;
  if (marks.path) alpha *= 1 - (1 - palette.dim) * marks.line;
  return alpha;
}

/** Paints every edge in view that isn't lit. */
export function paintEdges(ctx: Ctx, frame: Frame, marks: Marks, palette: Palette): void {
  const { scene, xs, ys, unit } = frame;
  ctx.lineCap = 'butt';
  for (const state of scene.states) {
    if (state.growing || !edgeInView(frame, state)) continue;
    const lit = marks.onPath.has(state.index) && marks.line >= 1;
    if (lit) continue;
    const growth = marks.growth.get(state.index);
    if (growth && growth.edge <= 0) continue;
    ctx.globalAlpha = strength(frame, marks, palette, state);
    ctx.strokeStyle = palette.lanes[state.colour];
    ctx.lineWidth = widthOf(frame, state);
    ctx.beginPath();
    edge(ctx, xs[state.parent], ys[state.parent], xs[state.index], ys[state.index], unit);
    const down = ys[state.parent] + (ys[state.index] - ys[state.parent]) * (growth?.edge ?? 1);
    withClip(ctx, frame, growth ? down : Infinity, () => ctx.stroke());
  }
  ctx.globalAlpha = 1;
}

/** Draws only what is above `y`: how lines appear to run downward. */
function withClip(ctx: Ctx, frame: Frame, y: number, paint: () => void): void {
  if (y === Infinity) {
    paint();
    return;
  }
  ctx.save();
  ctx.beginPath();
  ctx.rect(-50, -50, frame.stage.width + 100, Math.max(0, y + 50));
  ctx.clip();
  paint();
  ctx.restore();
}

/** Where the light stands at `t` of the way down the path. */
function front(frame: Frame, path: readonly number[], t: number): number {
  if (t >= 1) return Infinity;
  const y0 = frame.ys[path[0]];
  const y1 = frame.ys[path[path.length - 1]];
  return y0 + (y1 - y0) * t;
}

/** Paints the halo of the localized path as one line, so that it doesn't thicken where edges meet. */
export function paintHalo(ctx: Ctx, frame: Frame, marks: Marks, palette: Palette): void {
  const { path } = marks;
  if (!path || path.length < 2 || marks.halo <= 0) return;
  const { scene, xs, ys, unit } = frame;
  const last = scene.states[path[path.length - 1]];
  ctx.save();
  ctx.strokeStyle = palette.lanes[last.colour];
  ctx.globalAlpha = palette.halo;
  ctx.lineWidth = frame.mode === 'stems' ? 15 : widthOf(frame, last) + LIT + HALO;
  ctx.lineCap = 'round';
  ctx.lineJoin = 'round';
  ctx.beginPath();
  ctx.moveTo(xs[path[0]], ys[path[0]]);
  for (let i = 1; i < path.length; i++) {
    if (samePlace(frame, scene.states[path[i]], scene.states[path[i - 1]])) continue;
    continueEdge(ctx, xs[path[i - 1]], ys[path[i - 1]], xs[path[i]], ys[path[i]], unit);
  }
  withClip(ctx, frame, front(frame, path, marks.halo), () => ctx.stroke());
  ctx.restore();
}

/** Paints the lit edges at full strength, as far as the light has come. */
export function paintLitEdges(ctx: Ctx, frame: Frame, marks: Marks, palette: Palette): void {
  const { path } = marks;
  if (!path || path.length < 2 || marks.line <= 0) return;
  const { scene, xs, ys, unit } = frame;
  ctx.save();
  ctx.lineCap = 'round';
  const paint = (): void => {
    for (let i = 1; i < path.length; i++) {
      const state = scene.states[path[i]];
      if (!edgeInView(frame, state)) continue;
      ctx.strokeStyle = palette.lanes[state.colour];
      ctx.lineWidth = widthOf(frame, state) + LIT;
      ctx.beginPath();
      edge(ctx, xs[state.parent], ys[state.parent], xs[state.index], ys[state.index], unit);
      const drawn = marks.growth.get(state.index)?.edge ?? 1;
      const y0 = ys[state.parent];
      withClip(ctx, frame, drawn < 1 ? y0 + (ys[state.index] - y0) * drawn : Infinity, () => ctx.stroke());
    }
  };
  withClip(ctx, frame, front(frame, path, marks.line), paint);
  ctx.restore();
}

/** Paints the dotted edges: to the answer under way, from second parents, and from where a chosen state was moved. */
export function paintDottedEdges(ctx: Ctx, frame: Frame, marks: Marks, palette: Palette): void {
  const { scene, xs, ys, unit } = frame;
  ctx.save();
  for (const state of scene.states) {
    const { index, parent, row } = state;
    if (state.growing && parent >= 0) {
      const shown = marks.growth.get(index)?.edge ?? 1;
      ctx.strokeStyle = palette.lanes[state.colour];
      ctx.lineWidth = 3.2;
      ctx.lineCap = 'round';
      ctx.setLineDash([0.01, 5.4]);
      ctx.beginPath();
      edge(ctx, xs[parent], ys[parent], xs[index], ys[index] - 6, unit);
      const y0 = ys[parent];
      withClip(ctx, frame, shown < 1 ? y0 + (ys[index] - y0) * shown : Infinity, () => ctx.stroke());
    }
    if (state.growing && marks.second >= 0 && marks.second !== parent) paintLink(ctx, frame, marks.second, index, palette.lanes[scene.states[marks.second].colour], 0.95);
    if (frame.mode === 'far' || !inView(frame, ys[index], 200)) continue;
    const second = row.unsure && row.second !== null ? scene.byId.get(row.second) : undefined;
    if (second !== undefined) paintLink(ctx, frame, second, index, palette.lanes[scene.states[second].colour], isFaint(marks, scene, index) ? FAINT : 0.95);
    const before = marks.selected === index && row.moved_from !== null ? scene.byId.get(row.moved_from) : undefined;
    if (before !== undefined) paintLink(ctx, frame, before, index, palette.ink2, 0.7);
  }
  ctx.restore();
  paintGhost(ctx, frame, marks, palette);
}

/** Paints the edge that a lifted state would have: from the place pointed at, or from the hand that carries it. */
function paintGhost(ctx: Ctx, frame: Frame, marks: Marks, palette: Palette): void {
  const { lifted, aim, hand } = marks;
  if (lifted < 0 || (aim < 0 && !hand)) return;
  const { xs, ys, radius } = frame;
  const [x0, y0] = aim >= 0 ? [xs[aim], ys[aim]] : [hand!.x, hand!.y];
  const [x1, y1] = [xs[lifted], ys[lifted]];
  ctx.save();
  ctx.strokeStyle = palette.moss;
  ctx.lineWidth = 2;
  ctx.setLineDash([5, 4]);
  ctx.globalAlpha = aim >= 0 ? 1 : 0.6;
  ctx.beginPath();
  ctx.moveTo(x0, y0);
  ctx.bezierCurveTo(x0, y0 + (y1 - y0) * 0.6, x1, y0 + (y1 - y0) * 0.4, x1, y1 - radius);
  ctx.stroke();
  ctx.restore();
}

/** A dotted curve that doesn't follow the lanes: it is a relation, not a branch. */
function paintLink(ctx: Ctx, { xs, ys, radius }: Frame, from: number, to: number, colour: string, alpha: number): void {
  const [x0, y0, x1, y1] = [xs[from], ys[from], xs[to], ys[to]];
  const dx = x1 - x0;
  const dy = y1 - y0 - radius;
  ctx.save();
  ctx.globalAlpha = alpha;
  ctx.strokeStyle = colour;
  ctx.lineWidth = 1.5;
  ctx.setLineDash([3.2, 2.6]);
  ctx.beginPath();
  ctx.moveTo(x0, y0);
  ctx.bezierCurveTo(x0 + dx * 0.05, y0 + dy * 0.75, x1 - dx * 0.05, y0 + dy * 0.25, x1, y1 - radius);
  ctx.stroke();
  ctx.restore();
}
