/** A first look at a file before it is sent: only our own export needs to be told from the rest, it goes into an empty forest. */

export interface Picked {
  file: File;
  /** The forest's name, when it is an export of ArborWeb. */
  forest: string | null;
}

const HEAD = 64 * 1024;
const OURS = /"format"\s*:\s*"arborweb-forest"/;
const NAME = /"forest"\s*:\s*\{[^{}]*?"name"\s*:\s*("(?:[^"\\]|\\.)*")/;

export async function peek(file: File): Promise<Picked> {
  const head = await file.slice(0, HEAD).text();
  if (!OURS.test(head)) return { file, forest: null };
  const quoted = NAME.exec(head)?.[1];
  return { file, forest: quoted ? (JSON.parse(quoted) as string) : 'Imported forest' };
}
