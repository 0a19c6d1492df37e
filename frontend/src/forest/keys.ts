import type { Scene } from './layout';

/** Which state a key leads to from another: arrows to parent, child and siblings, brackets in time. Null: none of ours. */
export function nextFocus(scene: Scene, index: number, key: string): number | null {
  const { states, roots } = scene;
  const last = states.length - 1;
  if (last < 0) return null;
  const state = states[index];
  if (key === 'Home') return 0;
  if (key === 'End') return last;
  if (!state) return ['ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight', '[', ']'].includes(key) ? last : null;
  const siblings = state.parent < 0 ? roots : states[state.parent].children;
  const at = siblings.indexOf(index);
  switch (key) {
    case 'ArrowUp':
      return state.parent < 0 ? index : state.parent;
    case 'ArrowDown':
      return state.children[0] ?? index;
    case 'ArrowLeft':
      return siblings[Math.max(0, at - 1)];
    case 'ArrowRight':
      return siblings[Math.min(siblings.length - 1, at + 1)];
    case '[':
      return Math.max(0, index - 1);
    case ']':
      return Math.min(last, index + 1);
    default:
      return null;
  }
}
