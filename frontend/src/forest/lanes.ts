import type { StateRow } from './types';

/** What a lane table remembers of one lane: the position of its last state and who that state was. */
interface Lane {
  last: number;
  owner: number;
}

/** Which lanes are taken, as positions go by. `silence` positions without a state make a lane free again. */
export class LaneTable {
  private readonly lanes = new Map<number, Lane>();

  constructor(
    private readonly silence: number,
    private readonly lowest = 0,
  ) {}

  /** The last state put on a lane, or null. */
  ownerOf(lane: number): number | null {
    return this.lanes.get(lane)?.owner ?? null;
  }

  /** Puts a state on a lane. */
  take(lane: number, position: number, owner: number): void {
    this.lanes.set(lane, { last: position, owner });
  }

  /** Whether a state at `position` may come here: silent long enough, and not used since its parent at `since`. */
  isFree(lane: number, position: number, since = Infinity): boolean {
    const taken = this.lanes.get(lane);
    return taken === undefined || (position - taken.last >= this.silence && taken.last < since);
  }

  /** The free lane nearest to `from`, right before left. There is always one: lanes never used are free. */
  nearest(from: number, position: number, since: number): number {
    for (let d = 1; ; d++) {
      if (this.isFree(from + d, position, since)) return from + d;
      if (from - d >= this.lowest && this.isFree(from - d, position, since)) return from - d;
    }
  }

  /** The lowest free lane whose right neighbour is free as well: room for a root and its first branch. */
  forRoot(position: number): number {
    let lane = this.lowest;
    while (!this.isFree(lane, position) || !this.isFree(lane + 1, position)) lane++;
    return lane;
  }
}

/** Positions of silence after which a lane, a band of the stems, or a twig within a band is free again. */
export const SILENCE = { lane: 40, band: 420, twig: 160 } as const;

/**
 * The lane of every state, in order of position. A state keeps its parent's lane if it is the first child and nobody
 * took the lane since; so the lanes of the first n states never depend on state n + 1.
 */
export function assignLanes(rows: readonly StateRow[]): number[] {
  const table = new LaneTable(SILENCE.lane);
  const seen = new Map<number, { lane: number; position: number; children: number }>();
  return rows.map((row) => {
    const parent = row.parent === null ? undefined : seen.get(row.parent);
    let lane: number;
    if (!parent) lane = table.forRoot(row.position);
    else if (parent.children++ === 0 && table.ownerOf(parent.lane) === row.parent) lane = parent.lane;
    else lane = table.nearest(parent.lane, row.position, parent.position);
    table.take(lane, row.position, row.id);
    seen.set(row.id, { lane, position: row.position, children: 0 });
    return lane;
  });
}

/** Where the stems drawing puts a state: the band of its tree, and its twig left or right of the trunk. */
export interface BandPlace {
  band: number;
  twig: number;
}

/** Bands (one per tree) and twigs (one per branch, 0 is the trunk), by the same rule as the lanes. */
export function assignBands(rows: readonly StateRow[]): BandPlace[] {
  const bands = new LaneTable(SILENCE.band);
  const twigs = new Map<number, LaneTable>();
  const seen = new Map<number, BandPlace & { position: number; children: number }>();
  return rows.map((row) => {
    const parent = row.parent === null ? undefined : seen.get(row.parent);
    let table = twigs.get(row.root);
    if (!table) twigs.set(row.root, (table = new LaneTable(SILENCE.twig, -Infinity)));
    let band: number;
    let twig = 0;
    if (!parent) band = bands.forRoot(row.position);
    else {
      band = bands.ownerOf(parent.band) === row.root ? parent.band : bands.nearest(parent.band, row.position, parent.position);
      const goesOn = parent.children++ === 0 && table.ownerOf(parent.twig) === row.parent;
      twig = goesOn ? parent.twig : table.nearest(parent.twig, row.position, parent.position);
    }
    bands.take(band, row.position, row.root);
    table.take(twig, row.position, row.id);
    seen.set(row.id, { band, twig, position: row.position, children: 0 });
    return { band, twig };
  });
}
