/** Corrections in words a person reads. Pure. */

import { count } from '../shell/time';
import type { MovePreview } from '../types';

/** What a move does, in sentences. */
export function consequences(preview: MovePreview, own: number): string[] {
  const { counts, trees, evidence, later } = preview;
  const names = trees.map((tree) => `“${tree.topic}”`);
  const told = names.length > 2 ? `${names.slice(0, 2).join(', ')} and ${count(names.length - 2, 'more topic')}` : names.join(' and ');
  return [
    own > 1 ? `${count(counts.states, 'turn')} ${counts.states === 1 ? 'moves' : 'move'}: this one and what follows it.` : 'Only this turn moves; nothing follows it.',
    told && `${told} ${names.length === 1 ? 'gets' : 'get'} a new summary.`,
    evidence > 0 && `${count(evidence, 'fact or value', 'facts and values')} ${evidence === 1 ? 'is' : 'are'} compared anew: which one holds may change.`,
    later === 1 && 'A later turn may belong elsewhere now. You can look at it afterwards; it doesn’t move by itself.',
    later > 1 && `${count(later, 'later turn')} may belong elsewhere now. You can look at them afterwards; they don’t move by themselves.`,
  ].filter((words): words is string => typeof words === 'string' && words !== '');
}

/** What is said when later turns were looked at again and none would go elsewhere. */
export function nothingToMove(looked: number): string {
  if (looked === 0) return 'There is nothing to look at: no later turn found its place by itself.';
  if (looked === 1) return 'The one later turn would go where it is.';
  return looked === 2 ? 'Both later turns would go where they are.' : `All ${looked.toLocaleString('en')} later turns would go where they are.`;
}
