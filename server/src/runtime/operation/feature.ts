// Contribution of a feature to a server. The index of each feature exports one value of this type. The
// composition mounts all values in the same way, so a new feature is a folder and one line of the
// composition.
import type { WebhookContract } from '../../kernel/contract/event.ts';
import type { Bound } from '../../kernel/contract/operation.ts';
import type { HostedPage } from '../../kernel/contract/page.ts';
import type { Lifecycle } from '../../kernel/states.ts';
import type { ResetRules } from '../committer/reset.ts';
import type { JobHandler, Sweep } from '../jobs/jobs.ts';
import type { SealedColumn } from '../security/sealed-columns.ts';
import type { Ctx } from './context.ts';
import type { Runtime } from './operate.ts';
import type { PersonalData } from './personal-data.ts';

/** An operation: its contract and its handler. */
export type Operation = Bound<Ctx>;

/**
 * P are the dependencies that the composition provides. C is the customer that owns personal data.
 * Functions are properties, because the parameters of methods are compared bivariantly.
 */
export interface Feature<P = never, C = never> {
  operations?: (deps: P) => readonly Operation[];
  /** Handlers of the feature's job kinds. `operations` are the operations of all features. */
  jobs?: (deps: P, operations: readonly Operation[]) => readonly JobHandler[];
  /** Work found by periodic queries. */
  sweeps?: (deps: P) => readonly Sweep[];
  /**
   * Stages as jobs the work that sweeps find for platforms in real time. Runs when a separate clock of the
   * caller's platform is created.
   */
  onOwnClock?: (ctx: Ctx) => Promise<void>;
  /** Events that the contract documents as webhooks. */
  webhooks?: readonly WebhookContract[];
  /** Lifecycles by the name of the resource. */
  states?: Readonly<Record<string, Lifecycle>>;
  /** Personal data in the feature's tables. */
  personalData?: PersonalData<C>;
  /** Columns of the feature's tables that are sealed under a key of the installation. */
  sealed?: readonly SealedColumn[];
  /** Rules for the feature's tables in a reset of a sandbox platform. */
  reset?: ResetRules;
  /** A page of text and at most one button. */
  page?: (runtime: Runtime, deps: P) => HostedPage;
}
