// The child's side of the message channel to the bench: a few named jobs, one message each, one
// reply each. A child ends when the bench ends, in whatever way, and leaves Ctrl-C to it.

type Jobs = Record<string, (input: never) => unknown>;

interface Call {
  call: number;
  job: string;
  input: unknown;
}

export interface Reply {
  call: number;
  result?: unknown;
  error?: string;
}

/** Answers the bench from now on. */
export function answer(jobs: Jobs): void {
  const send = (reply: Reply) => void process.send?.(reply);
  process.on('SIGINT', () => undefined);
  // An orderly exit: only then is a processor profile written.
  process.on('SIGTERM', () => process.exit(0));
  process.on('disconnect', () => process.exit(0));
  process.on('message', async ({ call, job, input }: Call) => {
    try {
      const work = jobs[job];
      if (!work) throw new Error(`no job ${job}`);
      send({ call, result: await work(input as never) });
    } catch (error) {
      send({ call, error: error instanceof Error ? (error.stack ?? error.message) : `${error}` });
    }
  });
}
