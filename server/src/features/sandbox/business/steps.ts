// Actions of the world `business`. Their steps are steps of a fixture or uploads of documents.
import type { Time } from '../../../kernel/effects.ts';
import type { Step } from '../world/step.ts';

export interface UploadStep {
  name?: string;
  operationId: 'uploadDocument';
  body: Record<string, string>;
  file: { fileName: string; content(): Buffer };
}

export type PlannedStep = Step | UploadStep;

/**
 * Steps of one customer. The actions of one customer run in order. The actions of different
 * customers run concurrently.
 */
export interface Action {
  at: Time;
  owner: string;
  steps: readonly PlannedStep[];
}

export interface PlanInput {
  from: Time;
  until: Time;
  /** Approximate number of payments. */
  payments: number;
}
