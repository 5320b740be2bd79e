// A server of the simulation: the composed application, which can be killed. No call of a killed
// server reaches the database or the client. Committed changes remain. A trap kills the server
// before the write of its next commit, or after the write and before the reply.
import { type App, compose, type Settings } from '../../../src/compose.ts';
import type { Contract } from '../../../src/kernel/contract/operation.ts';
import { fieldErrors } from '../../../src/kernel/contract/validate.ts';
import type { Effects } from '../../../src/kernel/effects.ts';
import type { ChangeSet, Outcome } from '../../../src/runtime/committer/change-set.ts';
import { createLog } from '../../../src/runtime/observability/log.ts';

export type Trap = 'before' | 'after';

/** A commit that is held until it is released. */
interface HeldCommit {
  /** Resolves when a commit waits. */
  readonly whenCaught: Promise<void>;
  release(): void;
}

export interface Node {
  readonly app: App;
  readonly isDead: boolean;
  /** Kills the server at its next commit. Undefined removes the trap. */
  setTrap(point: Trap | undefined): void;
  /** Holds the next commit of the server. */
  holdNextCommit(): HeldCommit;
  kill(): void;
  /** Errors logged since the last call. */
  errors(): string[];
  /** Contract violations of replies since the last call. */
  contractViolations(): string[];
  /** Closes the database connections. */
  close(): Promise<void>;
}

const processCrashError = () =>
  Object.assign(new Error('the process has crashed'), { code: 'OUTCOME_UNKNOWN' });

/** Checks every reply against its contract. */
function createContractChecker(problems: string[]) {
  return (contract: Contract, status: number, body: unknown): void => {
    const name = `${contract.operationId} ${status}`;
    const declaredReply = contract.replies[status];
    if (status < 400 && declaredReply === undefined) problems.push(`${name} is not declared`);
    if (!declaredReply) return;
    const wireBody = JSON.parse(JSON.stringify(body)) as unknown;
    for (const { field, message } of fieldErrors(declaredReply, wireBody, 'body')) {
      problems.push(`${name}: ${field} ${message}`);
    }
  };
}

/** Replaces the database functions by functions that fail after the server was killed. */
function failAfterKill(app: App, isKilled: () => boolean): void {
  // Functions are replaced by name, regardless of their parameters.
  const db = app.runtime.db as unknown as Record<string, (...input: unknown[]) => Promise<unknown>>;
  for (const name of ['read', 'find', 'page', 'query']) {
    const call = db[name]!.bind(db);
    db[name] = async (...input) => {
      if (isKilled()) throw processCrashError();
      const response = await call(...input);
      if (isKilled()) throw processCrashError();
      return response;
    };
  }
}

interface Latch {
  reportCaught(): void;
  whenReleased: Promise<void>;
}

export async function openNode(settings: Settings, effects: Effects): Promise<Node> {
  const problems: string[] = [];
  const errorLines: string[] = [];
  let isDead = false;
  let trap: Trap | undefined;
  let latch: Latch | undefined;
  // An entry with a count repeats earlier errors, possibly those of a test that terminates database
  // connections.
  const log = createLog(effects, 'error', (line) => {
    if (!('count' in JSON.parse(line))) errorLines.push(line);
  });
  const app = await compose(settings, effects, log, createContractChecker(problems));
  const { committer } = app.runtime;
  const stopDatabase = app.runtime.db.close;
  failAfterKill(app, () => isDead);

  async function commit(set: ChangeSet): Promise<Outcome> {
    if (isDead) throw processCrashError();
    const [point, currentLatch] = [trap, latch];
    trap = latch = undefined;
    currentLatch?.reportCaught();
    await currentLatch?.whenReleased;
    if (point === 'before') isDead = true;
    if (isDead) throw processCrashError();
    const outcome = await committer.commit(set);
    if (point === 'after') isDead = true;
    if (isDead) throw processCrashError();
    return outcome;
  }
  app.runtime.committer = { ...committer, commit };

  return {
    app,
    get isDead() {
      return isDead;
    },
    setTrap(point) {
      trap = point;
    },
    holdNextCommit() {
      let release = () => {};
      const whenReleased = new Promise<void>((resolve) => {
        release = resolve;
      });
      const whenCaught = new Promise<void>((resolve) => {
        latch = { reportCaught: resolve, whenReleased };
      });
      return { whenCaught, release };
    },
    kill() {
      isDead = true;
    },
    errors: () => errorLines.splice(0),
    contractViolations: () => problems.splice(0),
    async close() {
      isDead = true;
      await app.server.close();
      // A killed server cannot shut down cleanly, so the committer is closed directly.
      await (committer as unknown as { close(): Promise<void> }).close();
      await stopDatabase();
    },
  };
}
