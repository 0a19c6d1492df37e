import { area, curveBasis } from 'd3-shape';
import { edge } from './edges';
import type { Frame } from './frame';
import { paintStation } from './draw-nodes';
import { FAINT, isFaint, type Marks } from './marks';
import type { Palette } from './palette';
import { threadWidth, type Stem } from './stems';

type Ctx = CanvasRenderingContext2D;

/** Paints the far drawing: stems and twigs, then stations over them, then the chosen state. */
export function paintStems(ctx: Ctx, frame: Frame, stems: readonly Stem[], marks: Marks, palette: Palette): void {
  const { stage, scene, xs, ys } = frame;
  const outline = area<[number, number]>()
    .curve(curveBasis)
    .context(ctx);
  const origin = frame.yOf(0);
  ctx.save();
  ctx.translate(0, origin);
  for (const stem of stems) {
    const start = stem.from?.y ?? stem.y0;
    if (stem.y1 + origin < -20 || start + origin > stage.height + 20) continue;
    const faint = marks.hits !== null && !stem.members.some((i) => marks.hits?.has(i));
    ctx.globalAlpha = faint ? FAINT : marks.path && !stem.members.some((i) => marks.onPath.has(i)) ? 0.8 : 0.9;
    ctx.fillStyle = ctx.strokeStyle = palette.lanes[stem.colour];
    if (stem.from) {
      ctx.lineWidth = threadWidth(stem);
      ctx.beginPath();
      edge(ctx, stem.from.x, stem.from.y, stem.x, stem.y0, 3);
      ctx.stroke();
    }
    ctx.beginPath();
    outline.x0(([, w]) => stem.x - w).x1(([, w]) => stem.x + w).y(([y]) => y)(outlinePoints(stem, -origin, stage.height - origin));
    ctx.fill();
  }
  ctx.restore();
  ctx.globalAlpha = 1;
  for (const root of scene.roots) {
    const state = scene.states[root];
    if (ys[root] < -20 || ys[root] > stage.height + 20) continue;
    ctx.globalAlpha = isFaint(marks, scene, root) ? FAINT : 1;
    paintStation(ctx, xs[root], ys[root], smallRadius(state.descendants), palette.lanes[state.colour], state.leaf, palette.paper);
  }
  ctx.globalAlpha = 1;
  for (const index of [marks.selected, marks.focused]) {
    if (index < 0) continue;
    ctx.fillStyle = palette.paper;
    circle(ctx, xs[index], ys[index], 9.5);
    ctx.fill();
    ctx.fillStyle = palette.lanes[scene.states[index].colour];
    circle(ctx, xs[index], ys[index], 5);
    ctx.fill();
    ctx.lineWidth = index === marks.focused ? 2 : 1.6;
    ctx.strokeStyle = index === marks.focused ? palette.moss : palette.ink;
    circle(ctx, xs[index], ys[index], 9);
    ctx.stroke();
  }
}

/** Stations of small trees are smaller. */
export const smallRadius = (descendants: number): number => (descendants > 60 ? 9 : 6.4);

function circle(ctx: Ctx, x: number, y: number, r: number): void {
  ctx.beginPath();
  ctx.arc(x, y, r, 0, Math.PI * 2);
}

/** Px between two support points of an outline: enough for a bell six px wide. */
const STEP = 3;
/** A stem that changes less than this between two points is straight there. */
const STRAIGHT = 0.02;

/** The outline's support points between two heights. */
function outlinePoints(stem: Stem, top: number, bottom: number): [number, number][] {
  const { half, y0 } = stem;
  const points: [number, number][] = [];
  const last = half.length - 1;
  const from = Math.max(0, Math.floor(top - 30 - y0));
  const to = Math.min(last, Math.ceil(bottom + 30 - y0));
  // A twig begins as thin as its thread.
  if (from === 0 && stem.from) points.push([y0 - 7, 0.5], [y0 - 3, half[0] * 0.7]);
  for (let i = from; i < to; i += STEP) {
    const straight = i > from && i + STEP < to && Math.abs(half[i] - half[i - STEP]) < STRAIGHT && Math.abs(half[i] - half[i + STEP]) < STRAIGHT;
    if (!straight) points.push([y0 + i, half[i]]);
  }
  if (to >= from) points.push([y0 + to, half[to]]);
  // Rounded foot, like a bud.
  if (to === last) points.push([y0 + last + 2, half[last] * 0.9], [y0 + last + 4, 0.3]);
  return points;
}
