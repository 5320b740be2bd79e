// A server of the simulation: the composed application, with a switch that kills it. Dead means that nothing
// it does from then on reaches the database or the client; what was committed stays. A trap kills it around
// its next commit: just before, so that nothing was written, or just after, so that nobody was told.
import { type App, compose, type Settings } from '../../../src/compose.ts';
import type { Contract } from '../../../src/kernel/contract/operation.ts';
import { fieldErrors } from '../../../src/kernel/contract/validate.ts';
import type { Effects } from '../../../src/kernel/effects.ts';
import type { ChangeSet, Outcome } from '../../../src/runtime/committer/change-set.ts';
import { createLog } from '../../../src/runtime/observability/log.ts';

export type Trap = 'before' | 'after';

/** A commit that is held until somebody lets it go. */
interface Held {
  /** Resolves once a commit waits. */
  readonly caught: Promise<void>;
  letGo(): void;
}

export interface Node {
  readonly app: App;
  readonly dead: boolean;
  /** Kills it at its next commit, or no longer does. */
  trap(at: Trap | undefined): void;
  /** Holds its next commit. */
  hold(): Held;
  kill(): void;
  /** What it logged as errors since the last look. */
  errors(): string[];
  /** Contracts that its replies broke since the last look. */
  broken(): string[];
  /** Lets go of the database. */
  close(): Promise<void>;
}

const lost = () => Object.assign(new Error('the process is gone'), { code: 'OUTCOME_UNKNOWN' });

/** Every reply is what its contract says. */
function watcher(problems: string[]) {
  return (contract: Contract, status: number, body: unknown): void => {
    const where = `${contract.operationId} ${status}`;
    const declared = contract.replies[status];
    if (status < 400 && declared === undefined) problems.push(`${where} is not declared`);
    if (!declared) return;
    const wire = JSON.parse(JSON.stringify(body)) as unknown;
    for (const { field, message } of fieldErrors(declared, wire, 'body')) {
      problems.push(`${where}: ${field} ${message}`);
    }
  };
}

/** The doors to the database, which a dead process no longer gets through. */
function guard(app: App, isDead: () => boolean): void {
  // Its functions are replaced by name, whatever they take.
  const db = app.runtime.db as unknown as Record<string, (...given: unknown[]) => Promise<unknown>>;
  for (const name of ['read', 'find', 'page', 'query']) {
    const open = db[name]!.bind(db);
    db[name] = async (...given) => {
      if (isDead()) throw lost();
      const answer = await open(...given);
      if (isDead()) throw lost();
      return answer;
    };
  }
}

interface Gate {
  catch(): void;
  open: Promise<void>;
}

export async function openNode(settings: Settings, world: Effects): Promise<Node> {
  const problems: string[] = [];
  const lines: string[] = [];
  let dead = false;
  let trap: Trap | undefined;
  let gate: Gate | undefined;
  // A line with a count repeats one that was logged before, perhaps while connections were cut.
  const log = createLog(world, 'error', (line) => {
    if (!('count' in JSON.parse(line))) lines.push(line);
  });
  const app = await compose(settings, world, log, watcher(problems));
  const { committer } = app.runtime;
  const stopDatabase = app.runtime.db.close;
  guard(app, () => dead);

  async function commit(set: ChangeSet): Promise<Outcome> {
    if (dead) throw lost();
    const [at, waiting] = [trap, gate];
    trap = gate = undefined;
    waiting?.catch();
    await waiting?.open;
    if (at === 'before') dead = true;
    if (dead) throw lost();
    const outcome = await committer.commit(set);
    if (at === 'after') dead = true;
    if (dead) throw lost();
    return outcome;
  }
  app.runtime.committer = { ...committer, commit };

  return {
    app,
    get dead() {
      return dead;
    },
    trap(at) {
      trap = at;
    },
    hold() {
      let letGo = () => {};
      const open = new Promise<void>((resolve) => {
        letGo = resolve;
      });
      const caught = new Promise<void>((resolve) => {
        gate = { catch: resolve, open };
      });
      return { caught, letGo };
    },
    kill() {
      dead = true;
    },
    errors: () => lines.splice(0),
    broken: () => problems.splice(0),
    async close() {
      dead = true;
      await app.server.close();
      // A dead server cannot end in order, so the committer is closed without it.
      await (committer as unknown as { close(): Promise<void> }).close();
      await stopDatabase();
    },
  };
}
