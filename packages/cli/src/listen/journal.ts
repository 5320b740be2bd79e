// The journal of events that were forwarded and not yet acknowledged. Each result is written before
// the next event is sent, so that a kill between the result and its acknowledgment repeats no
// event.
import {
  closeSync,
  fdatasyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  writeSync,
} from 'node:fs';

const BEGIN = '>';
const DONE = '=';

export interface Journal {
  /** Events that were forwarded. */
  readonly forwarded: ReadonlySet<string>;
  /**
   * Events whose forwarding an earlier run began without a result. The receiver may have received
   * them.
   */
  readonly uncertain: ReadonlySet<string>;
  begin(eventId: string): void;
  /** The receiver has not received the event. */
  cancel(eventId: string): void;
  finish(eventId: string): void;
  /** Removes the forwarded events after their acknowledgment. */
  clear(): void;
  close(): void;
}

/** The events of an earlier run. A line that was truncated by a crash is ignored. */
export function readJournal(text: string): { forwarded: Set<string>; uncertain: Set<string> } {
  const forwarded = new Set<string>();
  const uncertain = new Set<string>();
  for (const line of text.split('\n').slice(0, -1)) {
    const id = line.slice(1);
    if (line.startsWith(BEGIN)) uncertain.add(id);
    else {
      uncertain.delete(id);
      if (line.startsWith(DONE)) forwarded.add(id);
    }
  }
  return { forwarded, uncertain };
}

export function openJournal(file: string): Journal {
  const descriptor = openSync(file, 'a+', 0o600);
  const text = readFileSync(file, 'utf8');
  const { forwarded, uncertain } = readJournal(text);
  // A truncated line must not become part of the next line.
  if (text !== '' && !text.endsWith('\n')) writeSync(descriptor, '\n');
  return {
    forwarded,
    uncertain,
    // Written data survives a kill of the program without a flush to disk.
    begin: (id) => void writeSync(descriptor, `${BEGIN}${id}\n`),
    cancel: (id) => void writeSync(descriptor, `-${id}\n`),
    finish(id) {
      writeSync(descriptor, `${DONE}${id}\n`);
      fdatasyncSync(descriptor);
      forwarded.add(id);
      uncertain.delete(id);
    },
    clear() {
      ftruncateSync(descriptor, 0);
      forwarded.clear();
      for (const id of uncertain) writeSync(descriptor, `${BEGIN}${id}\n`);
    },
    close: () => closeSync(descriptor),
  };
}
