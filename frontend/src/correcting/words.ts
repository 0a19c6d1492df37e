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
    later > 0 && `${count(later, 'later turn')} may belong elsewhere now. You can look at ${later === 1 ? 'it' : 'them'} afterwards; ${later === 1 ? 'it doesn’t move' : 'they don’t move'} by ${later === 1 ? 'itself' : 'themselves'}.`,
  ].filter((words): words is string => typeof words === 'string' && words !== '');
}
