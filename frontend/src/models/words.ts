/** Models in plain words. */

import { count, duration, longTime } from '../shell/time';
import type { ModelCheck, ModelRole, ModelTest } from '../types';

/** "openai/gpt-4o-mini" → "gpt-4o-mini": what fits a pill. */
export const shortName = (name: string): string => name.split('/').at(-1) || name;

export const ROLE_WORDS: Record<ModelRole['role'], string> = {
  answer: 'Answers',
  extract: 'Reads turns into memory',
  embed: 'Finds by meaning',
  rerank: 'Weighs the places',
};

const FORMS = { json_schema: 'keeps to a given form', json_object: 'writes JSON', prompted: 'writes JSON when told to' } as const;

const OFFLINE: Partial<Record<ModelRole['role'], string>> = {
  answer: 'quotes what you said, computes dates and sums',
  extract: 'by rule',
};

const money = (price: number): string => price.toLocaleString('en', { maximumFractionDigits: 4 });

export const nameOf = (role: ModelRole): string => (role.local && role.model === 'offline' ? 'Offline engine' : role.model);

/** What is known of a model, most useful first; nothing of what isn't. */
export function knownWords(role: ModelRole, zone: string): string[] {
  if (role.local) return [OFFLINE[role.role] ?? 'on this server'];
  const prices = [role.price_input !== null && `${money(role.price_input)} in`, role.price_output !== null && `${money(role.price_output)} out`].filter(Boolean);
  return [
    role.context_length !== null && `reads up to ${count(role.context_length, 'token')}`,
    role.vector_length !== null && `vectors of ${role.vector_length} numbers`,
    role.structured !== null && FORMS[role.structured],
    role.streaming_usage !== null && (role.streaming_usage ? 'counts its tokens' : 'its tokens are counted here'),
    prices.length > 0 && `costs ${prices.join(', ')} a million tokens`,
    role.rejected.length > 0 && `takes no ${role.rejected.join(', no ')}`,
    role.probed_at === null ? 'not asked yet' : `last asked ${longTime(role.probed_at, zone)}`,
  ].filter((words): words is string => words !== false);
}

const CHECKS: Record<ModelCheck['check'], string> = {
  list: 'Lists its models',
  stream: 'Answers word by word',
  structured: 'Writes to a form, for memory',
  embed: 'Gives vectors',
  rerank: 'Weighs texts',
};

export const checkWords = (check: ModelCheck): string => CHECKS[check.check];

export const tookWords = (check: ModelCheck): string => duration(check.ms);

/** Which of the models that were tried these checks are of, when there are several. */
export const testedWords = (test: ModelTest): string => `${ROLE_WORDS[test.role as ModelRole['role']] ?? test.role}: ${test.model}`;
