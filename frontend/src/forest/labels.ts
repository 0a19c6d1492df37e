import { ascending, clamp } from './numbers';

/** A label that would like to stand at `y`; a smaller `rank` is more important, null gives way to everything. */
export interface Wish {
  key: number;
  y: number;
  rank: number | null;
}

/** Least distance between two labels, and the furthest a must-have may be pushed from its row. */
export const SPACING = 16.4;
export const PUSH = 11;

interface Standing {
  wish: Wish;
  y: number;
}

/**
 * Where labels stand, as key → y. Must-haves (with a rank) push each other up to 11 away; one that still doesn't fit
 * gives way, least important first. The rest stand on their own row where there is room.
 */
export function placeLabels(wishes: readonly Wish[], spacing = SPACING, push = PUSH): Map<number, number> {
  const musts = wishes.filter((w) => w.rank !== null).sort((a, b) => ascending(a.y, b.y));
  const standing = settle(musts, spacing, push);
  const placed = new Map(standing.map(({ wish, y }) => [wish.key, y]));
  const taken = standing.map(({ y }) => y);
  // Room between the must-haves, row by row downward; what stands already is never moved for the rest.
  let below = 0;
  let lastY = -Infinity;
  for (const wish of wishes.filter((w) => w.rank === null).sort((a, b) => ascending(a.y, b.y))) {
    while (below < taken.length && taken[below] < wish.y) lastY = Math.max(lastY, taken[below++]);
    const room = wish.y - lastY >= spacing && (below >= taken.length || taken[below] - wish.y >= spacing);
    if (!room) continue;
    placed.set(wish.key, wish.y);
    lastY = wish.y;
  }
  return placed;
}

/** Spreads must-haves, sorted by y, with least movement; drops the least important of a cluster that can't fit. */
function settle(musts: readonly Wish[], spacing: number, push: number): Standing[] {
  const done: Standing[] = [];
  // Wishes further apart than this never meet, so that each group is settled by itself.
  const reach = spacing + 2 * push;
  for (let from = 0; from < musts.length; ) {
    let to = from + 1;
    while (to < musts.length && musts[to].y - musts[to - 1].y < reach) to++;
    done.push(...settleGroup(musts.slice(from, to), spacing, push));
    from = to;
  }
  return done;
}

function settleGroup(group: Wish[], spacing: number, push: number): Standing[] {
  for (;;) {
    const clusters = spread(group, spacing);
    const tight = clusters.find((c) => c.members.some(({ wish, y }) => Math.abs(y - wish.y) > push));
    if (!tight) return clusters.flatMap((c) => c.members);
    const loser = tight.members.reduce((worst, m) => ((m.wish.rank ?? 0) >= (worst.wish.rank ?? 0) ? m : worst)).wish;
    group = group.filter((wish) => wish !== loser);
  }
}

/** Pool adjacent violators: clusters of touching labels, each centred on the mean of what its members wish. */
function spread(group: readonly Wish[], spacing: number): { members: Standing[] }[] {
  const clusters: { wishes: Wish[]; first: number }[] = [];
  for (const wish of group) {
    let cluster = { wishes: [wish], first: wish.y };
    for (let above = clusters.at(-1); above && above.first + above.wishes.length * spacing > cluster.first; above = clusters.at(-1)) {
      clusters.pop();
      const wishes = [...above.wishes, ...cluster.wishes];
      const sum = wishes.reduce((total, w, i) => total + w.y - i * spacing, 0);
      cluster = { wishes, first: sum / wishes.length };
    }
    clusters.push(cluster);
  }
  return clusters.map(({ wishes, first }) => ({ members: wishes.map((wish, i) => ({ wish, y: first + i * spacing })) }));
}

/** A name that wants to stand beside its station. */
export interface Name {
  key: number;
  x: number;
  y: number;
  width: number;
  /** Larger names choose first. */
  size: number;
}

/** A box that names keep clear of. */
export interface Box {
  x0: number;
  y0: number;
  x1: number;
  y1: number;
}

const meets = (a: Box, b: Box): boolean => a.x0 < b.x1 && b.x0 < a.x1 && a.y0 < b.y1 && b.y0 < a.y1;

/**
 * Names of trees beside their stations, largest tree first: right or left, avoiding stations and each other, and
 * stems where they can; failing that at one of the heights `above`. One that fits nowhere is left out; hovering shows it.
 */
export function placeNames(names: readonly Name[], stations: readonly Box[], stems: readonly Box[], width: number, gap: number, above: readonly number[] = []): Map<number, Name> {
  const placed = new Map<number, Name>();
  const taken: Box[] = [];
  for (const name of [...names].sort((a, b) => b.size - a.size)) {
    const middle = clamp(name.x - name.width / 2, 0, Math.max(0, width - name.width));
    const spots = [[name.x + gap, name.y], [name.x - gap - name.width, name.y], ...above.map((up) => [middle, name.y - up])];
    const boxes = spots
      .filter(([x]) => x >= 0 && x + name.width <= width)
      .map(([x, y]): Box => ({ x0: x - 2, y0: y - 9, x1: x + name.width + 2, y1: y + 9 }));
    const open = boxes.filter((box) => !taken.some((t) => meets(t, box)) && !stations.some((s) => meets(s, box)));
    const box = open.find((b) => !stems.some((s) => meets(s, b))) ?? open[0];
    if (!box) continue;
    taken.push(box);
    placed.set(name.key, { ...name, x: box.x0 + 2, y: box.y0 + 9 });
  }
  return placed;
}
