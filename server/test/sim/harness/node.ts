// A server of the simulation: the composed application, with a switch that kills it. From then on
// no call of it reaches the database or the client; committed changes are retained. A trap kills the server
// at its next commit: before the write, or after the write and before the reply.
import { type App, compose, type Settings } from '../../../src/compose.ts';
import type { Contract } from '../../../src/kernel/contract/operation.ts';
import { fieldErrors } from '../../../src/kernel/contract/validate.ts';
import type { Effects } from '../../../src/kernel/effects.ts';
import type { ChangeSet, Outcome } from '../../../src/runtime/committer/change-set.ts';
import { createLog } from '../../../src/runtime/observability/log.ts';

export type Trap = 'before' | 'after';

/** A commit that is held until it is released. */
interface Held {
  /** Resolves when a commit waits. */
  readonly caught: Promise<void>;
  release(): void;
}

export interface Node {
  readonly app: App;
  readonly dead: boolean;
  /** Kills it at its next commit; undefined removes the trap. */
  trap(point: Trap | undefined): void;
  /** Holds its next commit. */
  hold(): Held;
  kill(): void;
  /** Errors logged since the last call. */
  errors(): string[];
  /** Contract violations of replies since the last call. */
  broken(): string[];
  /** Closes the database connections. */
  close(): Promise<void>;
}

const processDied = () =>
  Object.assign(new Error('the process has died'), { code: 'OUTCOME_UNKNOWN' });

/** Checks every reply against its contract. */
function contractChecker(problems: string[]) {
  return (contract: Contract, status: number, body: unknown): void => {
    const name = `${contract.operationId} ${status}`;
    const declared = contract.replies[status];
    if (status < 400 && declared === undefined) problems.push(`${name} is not declared`);
    if (!declared) return;
    const wire = JSON.parse(JSON.stringify(body)) as unknown;
    for (const { field, message } of fieldErrors(declared, wire, 'body')) {
      problems.push(`${name}: ${field} ${message}`);
    }
  };
}

/** Database functions, which fail in a dead process. */
function guard(app: App, isKilled: () => boolean): void {
  // Functions are replaced by name, regardless of their parameters.
  const db = app.runtime.db as unknown as Record<string, (...input: unknown[]) => Promise<unknown>>;
  for (const name of ['read', 'find', 'page', 'query']) {
    const open = db[name]!.bind(db);
    db[name] = async (...input) => {
      if (isKilled()) throw processDied();
      const response = await open(...input);
      if (isKilled()) throw processDied();
      return response;
    };
  }
}

interface Latch {
  catch(): void;
  open: Promise<void>;
}

export async function openNode(settings: Settings, effects: Effects): Promise<Node> {
  const problems: string[] = [];
  const lines: string[] = [];
  let dead = false;
  let trap: Trap | undefined;
  let freeze: Latch | undefined;
  // An entry with a count repeats an earlier one, possibly from before the connections were cut.
  const log = createLog(effects, 'error', (line) => {
    if (!('count' in JSON.parse(line))) lines.push(line);
  });
  const app = await compose(settings, effects, log, contractChecker(problems));
  const { committer } = app.runtime;
  const stopDatabase = app.runtime.db.close;
  guard(app, () => dead);

  async function commit(set: ChangeSet): Promise<Outcome> {
    if (dead) throw processDied();
    const [point, freezing] = [trap, freeze];
    trap = freeze = undefined;
    freezing?.catch();
    await freezing?.open;
    if (point === 'before') dead = true;
    if (dead) throw processDied();
    const outcome = await committer.commit(set);
    if (point === 'after') dead = true;
    if (dead) throw processDied();
    return outcome;
  }
  app.runtime.committer = { ...committer, commit };

  return {
    app,
    get dead() {
      return dead;
    },
    trap(point) {
      trap = point;
    },
    hold() {
      let release = () => {};
      const open = new Promise<void>((resolve) => {
        release = resolve;
      });
      const caught = new Promise<void>((resolve) => {
        freeze = { catch: resolve, open };
      });
      return { caught, release };
    },
    kill() {
      dead = true;
    },
    errors: () => lines.splice(0),
    broken: () => problems.splice(0),
    async close() {
      dead = true;
      await app.server.close();
      // A dead server cannot shut down cleanly, so the committer is closed directly.
      await (committer as unknown as { close(): Promise<void> }).close();
      await stopDatabase();
    },
  };
}
