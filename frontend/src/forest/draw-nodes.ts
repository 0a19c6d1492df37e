import { inView, type Frame } from './frame';
import { LEAVES } from './leaves';
import { FAINT, isFaint, type Marks } from './marks';
import { withAlpha, type Palette } from './palette';
import type { Placed } from './layout';

type Ctx = CanvasRenderingContext2D;

/** Rim of paper that parts a node from what runs behind it. */
const RIM = 1.3;
const TAU = Math.PI * 2;

const leafPaths: Path2D[] = [];
const leafPath = (leaf: number): Path2D => (leafPaths[leaf] ??= new Path2D(LEAVES[leaf].path));

/** A context that writes what it paints. */
interface WritesPaths {
  fillPath(path: string): void;
}

/** Paints a leaf of `size` px centred on a point. */
export function paintLeaf(ctx: Ctx, leaf: number, x: number, y: number, size: number, colour: string): void {
  ctx.save();
  ctx.translate(x - size / 2, y - size / 2);
  ctx.scale(size / 24, size / 24);
  ctx.fillStyle = colour;
  // An SVG is written with the leaf's own words; a canvas keeps its path.
  if (ctx instanceof CanvasRenderingContext2D) ctx.fill(leafPath(leaf));
  else (ctx as WritesPaths).fillPath(LEAVES[leaf].path);
  ctx.restore();
}

function disc(ctx: Ctx, x: number, y: number, r: number, fill: string | CanvasGradient): void {
  ctx.fillStyle = fill;
  ctx.beginPath();
  ctx.arc(x, y, Math.max(0, r), 0, TAU);
  ctx.fill();
}

function ring(ctx: Ctx, x: number, y: number, r: number, width: number, colour: string, dash: number[] = []): void {
  ctx.strokeStyle = colour;
  ctx.lineWidth = width;
  ctx.setLineDash(dash);
  ctx.beginPath();
  ctx.arc(x, y, Math.max(0, r), 0, TAU);
  ctx.stroke();
  ctx.setLineDash([]);
}

function diamond(ctx: Ctx, x: number, y: number, r: number, fill: string): void {
  ctx.fillStyle = fill;
  ctx.beginPath();
  ctx.moveTo(x, y - r);
  ctx.lineTo(x + r, y);
  ctx.lineTo(x, y + r);
  ctx.lineTo(x - r, y);
  ctx.closePath();
  ctx.fill();
}

/** Radius of a station's ring. */
export const stationRadius = (frame: Frame): number =>
  frame.mode === 'far' ? 6.4 : frame.mode === 'stems' ? 9 : frame.mode === 'tree' ? Math.max(3.2, frame.radius * 2) : frame.radius * 2.15;

/** Radius of the mark that stands for a state. */
export function nodeRadius(frame: Frame, marks: Marks, state: Placed): number {
  if (state.parent < 0 && !state.growing) return stationRadius(frame);
  const plain = frame.mode !== 'far' && frame.mode !== 'stems';
  return frame.radius + (plain && marks.onPath.has(state.index) ? marks.line : 0);
}

/** Paints the glow of every candidate, below the nodes. */
export function paintGlows(ctx: Ctx, frame: Frame, marks: Marks, palette: Palette): void {
  for (const [index, glow] of marks.glows) {
    const state = frame.scene.states[index];
    const x = frame.xs[index];
    const y = frame.ys[index];
    if (!inView(frame, y, 60)) continue;
    const strength = 0.6 + (Math.sqrt(glow.probability) - 0.6) * glow.sunk;
    const radius = nodeRadius(frame, marks, state) + 5 + 17 * strength;
    const colour = palette.lanes[state.colour];
    const gradient = ctx.createRadialGradient(x, y, 0, x, y, radius);
    gradient.addColorStop(0, withAlpha(colour, 0.5 * glow.shown));
    gradient.addColorStop(0.55, withAlpha(colour, 0.2 * glow.shown));
    gradient.addColorStop(1, withAlpha(colour, 0));
    disc(ctx, x, y, radius, gradient);
  }
}

/** Paints the buds at the tips of branches. */
export function paintBuds(ctx: Ctx, frame: Frame, marks: Marks, palette: Palette): void {
  if (frame.radius < 3) return;
  const { scene, xs, ys, radius } = frame;
  const scale = radius / 4.7;
  for (const state of scene.states) {
    if (state.children.length || state.growing || !inView(frame, ys[state.index])) continue;
    const growth = marks.growth.get(state.index);
    if (growth && growth.disc < 1) continue;
    // Buds lean away from each other on neighbouring lanes.
    const side = (frame.mode === 'tree' ? state.index : state.lane) % 2 ? 1 : -1;
    ctx.save();
    const ringed = marks.selected === state.index ? 5.5 : marks.active === state.index ? 3.5 : 0.4;
    ctx.translate(xs[state.index], ys[state.index] + nodeRadius(frame, marks, state) + ringed);
    ctx.scale(scale * side, scale);
    ctx.rotate(-0.5);
    ctx.globalAlpha = isFaint(marks, scene, state.index) ? FAINT : marks.path && !marks.onPath.has(state.index) ? 0.62 : 0.8;
    ctx.fillStyle = palette.lanes[state.colour];
    ctx.beginPath();
    ctx.moveTo(0, -0.5);
    ctx.bezierCurveTo(3.9, 1.6, 4.2, 6.2, 0.4, 10);
    ctx.bezierCurveTo(-3.2, 6.6, -3.2, 2.2, 0, -0.5);
    ctx.fill();
    ctx.restore();
  }
}

/** Paints every node in view: stations, discs, diamonds, capsules and their marks. */
export function paintNodes(ctx: Ctx, frame: Frame, marks: Marks, palette: Palette): void {
  const { scene, xs, ys } = frame;
  ctx.lineCap = 'butt';
  for (const state of scene.states) {
    const { index } = state;
    const y = ys[index];
    if (!inView(frame, y)) continue;
    const x = xs[index];
    const faint = isFaint(marks, scene, index);
    ctx.globalAlpha = faint ? FAINT : 1;
    if (state.fold && frame.mode !== 'tree') {
      if (state.fold.key === state.row.id) paintCapsule(ctx, frame, x, y, state, palette);
      continue;
    }
    const growth = marks.growth.get(index);
    if (growth && growth.disc <= 0) continue;
    const scale = growth ? 0.6 + 0.4 * growth.disc : 1;
    const r = nodeRadius(frame, marks, state) * scale;
    paintNode(ctx, frame, marks, palette, state, x, y, r);
    paintRings(ctx, frame, marks, palette, state, x, y, r);
  }
  ctx.globalAlpha = 1;
}

function paintNode(ctx: Ctx, frame: Frame, marks: Marks, palette: Palette, state: Placed, x: number, y: number, r: number): void {
  const colour = palette.lanes[state.colour];
  const { row } = state;
  if (state.growing) {
    disc(ctx, x, y, 7.4, palette.paper);
    ring(ctx, x, y, 6, 2.2, colour, [2.2, 2.51]);
    disc(ctx, x, y, 2, colour);
    return;
  }
  if (state.parent < 0) {
    paintStation(ctx, x, y, r, colour, state.leaf, palette.paper);
    return;
  }
  const small = frame.mode === 'far' || (frame.mode === 'tree' && r < 3);
  if (!small && !marks.glows.has(state.index)) disc(ctx, x, y, r + RIM, palette.paper);
  else if (!small) ring(ctx, x, y, r + RIM / 2, RIM, palette.paper);
  if (small) disc(ctx, x, y, r, colour);
  else if (row.list) diamond(ctx, x, y, r * 1.28, colour);
  else if (row.pending) {
    disc(ctx, x, y, r, palette.paper);
    ring(ctx, x, y, r - 1, 2, colour);
  } else if (row.unsure) {
    disc(ctx, x, y, r + 0.6, palette.paper);
    ring(ctx, x, y, r - 0.2, 1.8, colour);
    ctx.fillStyle = colour;
    ctx.beginPath();
    ctx.arc(x, y, r, -Math.PI / 2, Math.PI / 2);
    ctx.fill();
  } else disc(ctx, x, y, r, colour);
  if (!small && row.new_value) disc(ctx, x, y, r * 0.42, palette.paper);
}

/** A root: a ring with its tree's leaf inside. */
export function paintStation(ctx: Ctx, x: number, y: number, r: number, colour: string, leaf: number, paper: string): void {
  disc(ctx, x, y, r + RIM + 0.6, paper);
  ring(ctx, x, y, r - 0.2, Math.min(2.4, r * 0.26), colour);
  paintLeaf(ctx, leaf, x, y, r * 1.16, colour);
}

function paintRings(ctx: Ctx, frame: Frame, marks: Marks, palette: Palette, state: Placed, x: number, y: number, r: number): void {
  const { row, index } = state;
  const colour = palette.lanes[state.colour];
  const plain = frame.radius >= 3 && frame.mode !== 'far' && frame.mode !== 'stems';
  const reach = row.list ? r * 1.15 : r;
  if (plain && row.replaced && state.parent >= 0) {
    ctx.fillStyle = palette.ink;
    ctx.fillRect(x + reach + 2.4, y - 1, 7, 2);
  }
  if (plain && row.moved_from !== null) ring(ctx, x, y, reach + 3, 1.4, palette.ink, [3, 2.4]);
  if (marks.active === index) ring(ctx, x, y, reach + 3, 1.5, colour);
  if (marks.selected === index) ring(ctx, x, y, reach + 5, 1.6, palette.ink);
  if (marks.lifted === index) ring(ctx, x, y, reach + 5, 2, palette.moss, [4, 3]);
  if (marks.aim === index) ring(ctx, x, y, reach + 7, 2.4, palette.moss);
  else if (marks.targets?.has(index) && plain) ring(ctx, x, y, reach + 3, 1.2, palette.moss);
  if (marks.focused === index && marks.aim !== index) {
    ring(ctx, x, y, reach + (marks.selected === index ? 10 : 5), 2, palette.moss);
  }
}

/** Width and height of a capsule. */
export const CAPSULE = { width: 24, height: 14 } as const;

function paintCapsule(ctx: Ctx, frame: Frame, x: number, y: number, state: Placed, palette: Palette): void {
  const colour = palette.lanes[state.colour];
  if (frame.mode === 'far') {
    disc(ctx, x, y, 2.5, palette.paper);
    ring(ctx, x, y, 2.2, 1.2, colour);
    return;
  }
  const text = `+${state.fold?.ids.length ?? 0}`;
  const large = frame.mode !== 'fit';
  const width = CAPSULE.width + (large ? 2 : 0) + (text.length - 2) * 6;
  const height = CAPSULE.height + (large ? 2 : 0);
  ctx.beginPath();
  ctx.roundRect(x - width / 2, y - height / 2, width, height, height / 2);
  ctx.fillStyle = palette.paper;
  ctx.fill();
  ctx.strokeStyle = colour;
  ctx.lineWidth = 1.6;
  ctx.stroke();
  ctx.fillStyle = palette.ink;
  ctx.font = `600 ${large ? 12 : 11}px ${palette.font}`;
  ctx.textAlign = 'center';
  ctx.textBaseline = 'alphabetic';
  ctx.fillText(text, x, y + (large ? 4 : 3.7));
}
