import { pathTo, type Scene } from './layout';
import { spokenState } from './words';
import type { Marks } from './marks';

/** One line of the mirror. */
interface Item {
  index: number;
  level: number;
  place: number;
  of: number;
  expanded: boolean | null;
}

/** How many brothers and sisters are listed around the focused state. */
const AROUND = 25;

let instances = 0;

/**
 * A real tree for screen readers beside the canvas: the roots, the path to the focused state, its siblings and its
 * children. Windowed, with level, place and size of set said for each, so that 10,000 states cost a hundred elements.
 */
export class AriaTree {
  readonly element = document.createElement('div');
  private readonly prefix = `forest-${++instances}-item-`;
  private key = '';

  constructor(label: string) {
    this.element.className = 'forest-tree';
    this.element.setAttribute('role', 'tree');
    this.element.setAttribute('aria-label', label);
    this.element.tabIndex = 0;
  }

  /** Mirrors the scene around the focused state. */
  show(scene: Scene, marks: Marks): void {
    this.element.hidden = !scene.states.length;
    if (!scene.states.length) return;
    const focused = marks.focused >= 0 ? marks.focused : marks.selected;
    const items = itemsAround(scene, focused);
    const key = items.map((i) => `${i.index}${scene.states[i.index].row.label}${i.of}`).join('|') + `#${focused}#${marks.selected}#${marks.active}#${marks.targets?.size}`;
    if (key === this.key) return;
    this.key = key;
    this.element.replaceChildren(...items.map((item) => this.make(scene, marks, item)));
    if (focused >= 0) this.element.setAttribute('aria-activedescendant', this.prefix + scene.states[focused].row.id);
    else this.element.removeAttribute('aria-activedescendant');
  }

  private make(scene: Scene, marks: Marks, { index, level, place, of, expanded }: Item): HTMLElement {
    const state = scene.states[index];
    const item = document.createElement('div');
    item.id = this.prefix + state.row.id;
    item.setAttribute('role', 'treeitem');
    item.setAttribute('aria-level', String(level));
    item.setAttribute('aria-posinset', String(place));
    item.setAttribute('aria-setsize', String(of));
    item.setAttribute('aria-selected', String(marks.selected === index));
    if (marks.targets && !marks.targets.has(index)) item.setAttribute('aria-disabled', 'true');
    if (expanded !== null) item.setAttribute('aria-expanded', String(expanded));
    item.dir = 'auto';
    item.textContent = spokenState(state, marks, scene.zone);
    return item;
  }
}

function itemsAround(scene: Scene, focused: number): Item[] {
  const path = focused >= 0 ? pathTo(scene, focused) : [];
  const items: Item[] = [];
  const list = (siblings: readonly number[], depth: number): void => {
    const onPath = siblings.indexOf(path[depth]);
    const isLast = depth >= path.length - 1;
    siblings.forEach((index, i) => {
      const near = depth === 0 || isLast ? Math.abs(i - Math.max(0, onPath)) <= AROUND : i === onPath;
      if (!near) return;
      const { children } = scene.states[index];
      const open = i === onPath && children.length > 0;
      items.push({ index, level: depth + 1, place: i + 1, of: siblings.length, expanded: children.length ? open : null });
      // Long paths list only their last stretch; levels still say how deep it is.
      if (open) list(children, depth + 1);
    });
  };
  if (path.length <= 60) list(scene.roots, 0);
  else {
    for (const depth of [0, ...range(path.length - 40, path.length)]) {
      const siblings = depth === 0 ? scene.roots : scene.states[path[depth - 1]].children;
      const place = siblings.indexOf(path[depth]) + 1;
      items.push({ index: path[depth], level: depth + 1, place, of: siblings.length, expanded: scene.states[path[depth]].children.length ? true : null });
    }
    scene.states[focused].children.slice(0, AROUND).forEach((index, i, all) => {
      items.push({ index, level: path.length + 1, place: i + 1, of: all.length, expanded: scene.states[index].children.length ? false : null });
    });
  }
  return items;
}

const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, i) => from + i);
