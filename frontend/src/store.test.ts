import { describe, expect, it } from 'vitest';
import { createStore } from './store';

describe('store', () => {
  it('tells a watcher only when what it selects changed, with the value before', () => {
    const store = createStore({ count: 1, name: 'Ines' });
    const seen: [number, number][] = [];
    store.watch((state) => state.count, (now, before) => seen.push([now, before]));
    store.set({ name: 'Nora' });
    store.set({ count: 2 });
    store.set({ count: 2 });
    store.set((state) => ({ count: state.count + 1 }));
    expect(seen).toEqual([[2, 1], [3, 2]]);
    expect(store.get()).toEqual({ count: 3, name: 'Nora' });
  });

  it('tells the first watcher before the second, so the forest hears of a path before the chat is drawn', () => {
    const store = createStore({ path: [] as number[] });
    const order: string[] = [];
    store.watch((state) => state.path, () => order.push('forest'));
    store.watch((state) => state, () => order.push('page'));
    store.set({ path: [1, 2] });
    expect(order).toEqual(['forest', 'page']);
  });

  it('stops telling after unwatching, also from inside a listener, and lets a listener set', () => {
    const store = createStore({ a: 0, b: 0 });
    const stop = store.watch((state) => state.a, (a) => {
      stop();
      store.set({ b: a * 10 });
    });
    store.set({ a: 1 });
    store.set({ a: 2 });
    expect(store.get()).toEqual({ a: 2, b: 10 });
  });
});
