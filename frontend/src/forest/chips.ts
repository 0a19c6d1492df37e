import { leafIcon } from './leaf-icon';
import type { Frame } from './frame';
import type { Placed } from './layout';

/** What the row of chips covers. */
const COVERED = 34;

/** The trees whose station has scrolled away upward while they still go on, by lane. */
export function scrolledTrees(frame: Frame): Placed[] {
  if (frame.mode === 'tree') return [];
  const { scene, ys, xs } = frame;
  if (frame.camera.top < 0.05) return [];
  const gone = new Map<number, Placed>();
  for (const root of scene.roots) if (ys[root] < COVERED && !scene.states[root].growing) gone.set(scene.states[root].row.id, scene.states[root]);
  if (!gone.size) return [];
  const goesOn = new Set<number>();
  for (const state of scene.states) if (ys[state.index] > COVERED && gone.has(state.row.root)) goesOn.add(state.row.root);
  return [...gone.values()].filter((root) => goesOn.has(root.row.id)).sort((a, b) => xs[a.index] - xs[b.index]);
}

/** The names that stick to the upper edge; a click zooms to the tree. */
export class TreeChips {
  readonly element = document.createElement('div');
  private shown = '';

  constructor(private readonly zoomTo: (root: number) => void) {
    this.element.className = 'forest-chips';
    this.element.hidden = true;
  }

  show(roots: readonly Placed[]): void {
    const key = roots.map((r) => `${r.row.id}:${r.topic}`).join('|');
    if (key === this.shown) return;
    this.shown = key;
    this.element.hidden = !roots.length;
    this.element.replaceChildren(
      ...roots.map((root) => {
        const chip = document.createElement('button');
        chip.type = 'button';
        chip.setAttribute('aria-label', `Zoom to ${root.topic}`);
        const name = document.createElement('span');
        name.dir = 'auto';
        name.textContent = root.topic;
        chip.append(leafIcon(root.colour, root.leaf), name);
        chip.addEventListener('click', () => this.zoomTo(root.row.id));
        return chip;
      }),
    );
  }
}
