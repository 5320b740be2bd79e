// The child's side of the message channel to the bench: named jobs, one message and one reply each.
// A child exits when the bench exits for any reason. Ctrl-C is ignored, because the bench handles
// it.

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

/** Serves these jobs from now on. */
export function serveJobs(jobs: Jobs): void {
  const send = (reply: Reply) => void process.send?.(reply);
  process.on('SIGINT', () => undefined);
  // A processor profile is written only at a regular exit.
  process.on('SIGTERM', () => process.exit(0));
  process.on('disconnect', () => process.exit(0));
  process.on('message', async ({ call, job, input }: Call) => {
    try {
      const work = jobs[job];
      if (!work) throw new Error(`the job ${job} is unknown`);
      send({ call, result: await work(input as never) });
    } catch (error) {
      send({ call, error: error instanceof Error ? (error.stack ?? error.message) : `${error}` });
    }
  });
}
