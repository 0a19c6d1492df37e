/** What a person does about imports, and the watch over one that runs: it is found again after a reload. */

import { api, ApiError } from '../api';
import { keepSetting, readSetting } from '../chat/draft';
import type { Live } from '../controller';
import { troubleOf } from '../conversation';
import { localZone } from '../shell/time';
import { isFirstVisit, type AppState } from '../state';
import type { Store } from '../store';
import type { Forest, Job } from '../types';
import { freeName, isOpen, isUnderWay, noImport, ownName, type Importing } from './importing';
import { peek } from './peek';
import { sendFile, Stopped, type Upload } from './upload';
import { headline, percentOf, refusal, workingWords } from './words';

export interface ImportActions {
  open(): void;
  pick(files: readonly File[]): void;
  unpick(): void;
  how(how: Importing['how']): void;
  target(target: Importing['target']): void;
  name(name: string): void;
  /** A file is held over the page, or no longer. */
  over(over: boolean): void;
  start(): void;
  stop(): void;
  /** End the import that runs; what came in stays. */
  cancel(): void;
  /** Choose a file once more. */
  again(): void;
  /** The same file, into a new forest. */
  intoNew(): void;
  dismiss(): void;
  /** Look at the forest that grew. */
  show(): void;
  /** Take up the import of a forest that was just opened. */
  find(forest: number): Promise<void>;
}

const EVERY = 700;
const EVERY_WHEN_LOST = 3_000;
/** How often a cancelled import is asked what it took in until it stopped. */
const LAST_LOOKS = 20;
/** The drawing grows in steps of this length at least. */
const GROWTH = 2_000;

const settingOf = (forest: number) => `import.${forest}`;

export function createImporting(store: Store<AppState>, live: Live, toast: (words: string) => void): ImportActions {
  let upload: Upload | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let grown = { at: 0, fresh: 0 };
  let quarter = 0;

  const get = () => store.get().importing;
  const put = (part: Partial<Importing>) => store.set(({ importing }) => ({ importing: { ...importing, ...part } }));
  const announce = (announcement: string) => store.set({ announcement });
  const remember = (forest: number, job: Job | null) => keepSetting(settingOf(forest), job ? String(job.id) : '');

  /** An empty choice; without a forest it is a new one. */
  const fresh = (): Partial<Importing> => {
    const state = store.get();
    return { ...noImport(), job: state.importing.job, target: state.forest ? 'here' : 'new', name: freeName(state.forests.length ? 'Imported chats' : ownName(state.me?.username ?? ''), state.forests) };
  };

  const warn = (event: BeforeUnloadEvent) => event.preventDefault();

  const follow = (job: Job) => {
    grown = { at: Date.now(), fresh: job.import?.new ?? 0 };
    quarter = 0;
    put({ job, sending: null, lost: false, stopping: false, trouble: null });
    if (job.forest !== null) remember(job.forest, job);
    clearTimeout(timer);
    if (isOpen(job)) timer = setTimeout(() => void look(), EVERY);
  };

  /** Ask how far it is, again and again until it ended. */
  const look = async () => {
    const { job } = get();
    if (!job || !isOpen(job)) return;
    try {
      const now = await api.job(job.id);
      put({ job: now, lost: false });
      if (!isOpen(now)) return now.status === 'cancelled' ? void cancelled(now) : ended(now);
      tell(now);
      const taken = now.import?.new ?? 0;
      if (taken > grown.fresh && Date.now() - grown.at > GROWTH) {
        await live.conversation?.grow();
        grown = { at: Date.now(), fresh: taken };
      }
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return put({ job: null });
      put({ lost: true });
    }
    timer = setTimeout(() => void look(), get().lost ? EVERY_WHEN_LOST : EVERY);
  };

  const ended = (job: Job) => {
    announce(headline(job));
    void live.conversation?.catchUp();
  };

  /** Who reads the file ends its batch first, and says then what was taken in. */
  const cancelled = async (job: Job) => {
    ended(job);
    for (let looks = 0; looks < LAST_LOOKS; looks++) {
      await new Promise((resolve) => setTimeout(resolve, EVERY));
      if (get().job?.id !== job.id) return;
      const now = await api.job(job.id).catch(() => job);
      if (get().job?.id !== job.id) return;
      put({ job: now });
      if (now.message !== job.message) return ended(now);
    }
  };

  /** Said aloud at every quarter, not at every turn. */
  const tell = (job: Job) => {
    const now = Math.floor(percentOf(job.done, job.total) / 25);
    if (now > quarter) announce(`Import: ${workingWords(job)}`);
    quarter = now;
  };

  const plant = async (wish: string): Promise<Forest> => {
    const forest = await api.createForest(freeName(wish, store.get().forests), localZone());
    store.set(({ forests }) => ({ forests: [...forests, forest] }));
    return forest;
  };

  /** Take back a forest that was made for a file nobody takes. */
  const uproot = async (forest: Forest) => {
    await api.deleteForest(forest.id).catch(() => undefined);
    store.set(({ forests }) => ({ forests: forests.filter((one) => one.id !== forest.id) }));
  };

  const send = async () => {
    const { picked, target, how, name, sending } = get();
    const { forest } = store.get();
    if (!picked || sending) return;
    put({ trouble: null, job: null, sending: { sent: 0, total: picked.file.size } });
    addEventListener('beforeunload', warn);
    let planted: Forest | null = null;
    try {
      if (target === 'new' || !forest) planted = await plant(name);
      if (get().sending === null) throw new Stopped();
      const into = planted ?? forest!;
      upload = sendFile(into.id, picked.file, how === 'own' && picked.forest === null, (sent, total) => get().sending && put({ sending: { sent, total } }));
      const job = await upload.done;
      removeEventListener('beforeunload', warn);
      if (planted) {
        remember(planted.id, job);
        location.assign(`/forests/${planted.id}/#dialog=import`);
      } else follow(job);
    } catch (error) {
      if (planted) await uproot(planted);
      put({ sending: null, trouble: error instanceof Stopped ? null : troubleOf(error) });
    } finally {
      removeEventListener('beforeunload', warn);
      upload = null;
    }
  };

  const seen = () => {
    const { job } = get();
    if (!job || isOpen(job)) return;
    if (job.forest !== null) remember(job.forest, null);
    put({ job: null });
  };

  store.watch((state) => state.dialog, (_, before) => {
    if (before !== 'import') return;
    seen();
    if (!isUnderWay(get())) put({ picked: null, trouble: null });
  });

  const actions: ImportActions = {
    open() {
      if (!isUnderWay(get()) && !get().job) put(fresh());
      store.set({ dialog: 'import', menu: null });
    },
    pick(files) {
      put({ over: false });
      if (!files.length) return;
      if (isUnderWay(get())) {
        actions.open();
        return toast('One import at a time: this one still runs.');
      }
      seen();
      if (store.get().dialog !== 'import') actions.open();
      const trouble = refusal(files, store.get().me?.max_import_bytes ?? Infinity);
      put({ picked: null, trouble });
      if (trouble) return;
      peek(files[0]!).then((picked) => {
        const state = store.get();
        const settled = state.forest !== null && !isFirstVisit(state);
        put({ picked, ...(picked.forest === null ? {} : { target: settled || !state.forest ? 'new' : 'here', name: freeName(picked.forest, state.forests) }) });
        announce(`${picked.file.name} is chosen.`);
      }, () => put({ trouble: { code: 'invalid', message: 'This file can’t be read.', action: 'A folder isn’t taken: pack it into a ZIP archive.' } }));
    },
    unpick: () => put({ picked: null, trouble: null }),
    how: (how) => put({ how }),
    target: (target) => put({ target }),
    name: (name) => put({ name }),
    over: (over) => get().over !== over && put({ over }),
    start: () => void send(),
    stop() {
      put({ sending: null });
      upload?.stop();
    },
    async cancel() {
      const { job, stopping } = get();
      if (!job || !isOpen(job) || stopping) return;
      put({ stopping: true });
      try {
        await api.cancelJob(job.id);
      } catch (error) {
        // Over meanwhile: the next look says how.
        if (!(error instanceof ApiError) || error.status !== 409) toast(troubleOf(error).message);
      }
      put({ stopping: false });
      clearTimeout(timer);
      await look();
    },
    again() {
      seen();
      put(fresh());
    },
    intoNew() {
      const { picked } = get();
      seen();
      put({ ...fresh(), target: 'new', picked, name: freeName(picked?.forest ?? 'Imported chats', store.get().forests) });
      void send();
    },
    dismiss: seen,
    show() {
      store.set({ dialog: null, phoneTab: 'forest', drawer: false });
      requestAnimationFrame(() => live.panel?.view.fit());
    },
    async find(forest) {
      try {
        const job = await api.latestImport(forest);
        if (job && (isOpen(job) || readSetting(settingOf(forest)) === String(job.id))) follow(job);
      } catch {
        // The page works without; the forest itself says what is there.
      }
    },
  };
  return actions;
}
