import { stratify, tree, type HierarchyNode, type HierarchyPointNode } from 'd3-hierarchy';

interface Item {
  id: number;
  parent: number | null;
}

/** The hidden root that holds the trees together: `stratify` takes exactly one root. */
const HIDDEN = -1;

function grove(parents: readonly number[]): HierarchyNode<Item> {
  const items: Item[] = [{ id: HIDDEN, parent: null }, ...parents.map((parent, id) => ({ id, parent }))];
  return stratify<Item>()
    .id((item) => String(item.id))
    .parentId((item) => (item.parent === null ? null : String(item.parent)))(items);
}

/** How many states continue each state, directly or not. `parents` holds indexes, −1 for a root. */
export function countDescendants(parents: readonly number[]): number[] {
  const counts = new Array<number>(parents.length).fill(0);
  grove(parents)
    .sum(() => 1)
    .each((node) => {
      // `sum` counts the node itself as well.
      if (node.data.id !== HIDDEN) counts[node.data.id] = (node.value ?? 1) - 1;
    });
  return counts;
}

/** Places of the tidy trees in units, and how far they reach. */
export interface TidyTrees {
  places: { x: number; y: number }[];
  width: number;
  height: number;
}

/** Space between two trees, in units: room for a name. */
const BETWEEN = 4;

/** A tidy tree per root, packed side by side in order of planting: x across, y by depth. */
export function tidyTrees(parents: readonly number[]): TidyTrees {
  const places = parents.map(() => ({ x: 0, y: 0 }));
  const draw = tree<Item>().nodeSize([1, 1.6]);
  let left = 0;
  let height = 0;
  // Each tree is drawn by itself: under the hidden root they would be packed by depth and interlock.
  for (const root of grove(parents).children ?? []) {
    const drawn = draw(root.copy() as HierarchyNode<Item>) as HierarchyPointNode<Item>;
    let low = Infinity;
    let high = -Infinity;
    drawn.each((node) => {
      low = Math.min(low, node.x);
      high = Math.max(high, node.x);
    });
    drawn.each((node) => {
      places[node.data.id] = { x: left + node.x - low, y: node.y };
      height = Math.max(height, node.y);
    });
    left += high - low + BETWEEN;
  }
  return { places, width: Math.max(0, left - BETWEEN), height };
}
