/** An observable value: one object, replaced in part by `set`, watched by selectors. Listeners run at once, in order of subscription. */

export type Select<S, V> = (state: S) => V;

export interface Store<S extends object> {
  get(): S;
  /** Replace some keys; a function gets the state as it is now. */
  set(patch: Partial<S> | ((state: S) => Partial<S>)): void;
  /** Call `listen` whenever what `select` gives is another value than before. Returns the way to stop. */
  watch<V>(select: Select<S, V>, listen: (value: V, before: V) => void): () => void;
}

export function createStore<S extends object>(initial: S): Store<S> {
  let state = initial;
  const watchers = new Set<() => void>();
  return {
    get: () => state,
    set(patch) {
      const part = typeof patch === 'function' ? patch(state) : patch;
      const changed = (Object.keys(part) as (keyof S)[]).some((key) => !Object.is(state[key], part[key]));
      if (!changed) return;
      state = { ...state, ...part };
      for (const check of [...watchers]) check();
    },
    watch(select, listen) {
      let value = select(state);
      const check = () => {
        const next = select(state);
        if (Object.is(next, value)) return;
        const before = value;
        value = next;
        listen(next, before);
      };
      watchers.add(check);
      return () => void watchers.delete(check);
    },
  };
}
