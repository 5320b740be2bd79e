// Jobs run after a commit. A definition is one value shared by the code that stages a job and the handler
// that runs it, so the input has one type. Kind and input are stored in rows, so a kind never changes its
// meaning. A field added to an input is optional, because earlier rows do not contain it.

import { type Static, type TObject, Type } from '@sinclair/typebox';
import { MODES } from '../mode.ts';
import { oneOf } from '../schema.ts';

/** Private to this file, so that only `defineJob` creates definitions. */
const DEFINED = Symbol('defineJob');

export interface JobDefinition<S extends TObject = TObject> {
  readonly kind: string;
  readonly input: S;
  readonly [DEFINED]: true;
}

export type JobInput<D extends JobDefinition> = Static<D['input']>;

/** Defines a kind of job. Each kind has one definition. */
export const defineJob = <S extends TObject>(kind: string, input: S): JobDefinition<S> => ({
  kind,
  input,
  [DEFINED]: true,
});

/** Kinds of stored jobs of an earlier release, with their present names. */
const EARLIER_KINDS: Readonly<Record<string, string>> = {
  'cards.pull': 'cards.funding-debit',
  'incoming.ask': 'incoming.request-approval',
  'invitations.tell-claimed': 'invitations.notify-claimed',
  'quotes.lapse': 'quotes.expire-authorization',
  'verification.ask': 'verification.check',
};

/** The kind whose definition a stored job has. */
export const presentKindOf = (kind: string): string => EARLIER_KINDS[kind] ?? kind;

/** The kind and its earlier names, for queries of stored jobs. */
export const storedKindsOf = (kind: string): string[] => [
  kind,
  ...Object.keys(EARLIER_KINDS).filter((each) => EARLIER_KINDS[each] === kind),
];

/** Common input fields: the platform of the job and its environment. */
export const PlatformFields = {
  platformId: Type.String(),
  environment: oneOf(MODES),
};
