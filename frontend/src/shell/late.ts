/** Parts of the page that come when they are first asked for, so that the first visit doesn't wait for them. */

/** Who is told that a part is here, or that it could not be had. */
export interface Waiting {
  partCame(here: boolean): void;
}

/** Gives the part, or null while it is on its way; the page is drawn once more when it is here. */
export function late<M>(load: () => Promise<M>): (waiting: Waiting) => M | null {
  let part: M | null = null;
  let loading = false;
  return (waiting) => {
    if (!part && !loading) {
      loading = true;
      load().then((made) => {
        part = made;
        waiting.partCame(true);
      }, () => waiting.partCame(false)).finally(() => (loading = false));
    }
    return part;
  };
}
