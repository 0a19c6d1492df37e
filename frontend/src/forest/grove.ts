import { layoutForest, type Scene } from './layout';
import type { Wanted } from './marks';
import type { Drawing, Growing, StateRow, TreeRow } from './types';

/** What the view was told of the forest, and which runs are open; makes scenes of it. */
export class Grove {
  readonly rows = new Map<number, StateRow>();
  private readonly trees = new Map<number, TreeRow>();
  private readonly opened = new Set<number>();
  growing: Growing | null = null;
  zone = 'UTC';

  /** Replaces everything. */
  set(rows: readonly StateRow[], trees: readonly TreeRow[]): void {
    this.rows.clear();
    this.trees.clear();
    for (const row of rows) this.rows.set(row.id, row);
    for (const tree of trees) this.trees.set(tree.root, tree);
  }

  /** Adds or replaces a state and its tree. */
  put(row: StateRow, tree?: TreeRow | null): void {
    this.rows.set(row.id, row);
    if (tree) this.trees.set(tree.root, tree);
  }

  /** Takes a state away. */
  remove(id: number): void {
    this.rows.delete(id);
    this.trees.delete(id);
  }

  /** Opens a run. */
  open(key: number): void {
    this.opened.add(key);
  }

  /** Lays everything out; what is chosen, considered or found is never hidden in a run. */
  scene(wanted: Wanted, drawing: Drawing): Scene {
    const keep = new Set(wanted.found ?? []);
    for (const { state } of wanted.localized?.candidates ?? []) if (state !== null) keep.add(state);
    if (wanted.active !== null) keep.add(wanted.active);
    const layout = (): Scene =>
      layoutForest([...this.rows.values()], [...this.trees.values()], {
        opened: this.opened,
        keep,
        growing: this.growing,
        zone: this.zone,
        drawing,
      });
    const scene = layout();
    // A chosen state opens its run for good, so that choosing another doesn't fold it again and move rows.
    const run = scene.states[scene.byId.get(wanted.selected ?? NaN) ?? -1]?.fold;
    if (!run) return scene;
    this.open(run.key);
    return layout();
  }
}
