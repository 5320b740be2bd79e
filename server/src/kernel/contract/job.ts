// Jobs: work to do after a commit. A definition is one value that the code which stages a job and the handler
// which runs it share, so the input has one type. A kind and an input are kept in rows: a kind never changes
// its meaning, and a field that is added to an input is optional, since earlier rows do not have it.

import { type Static, type TObject, Type } from '@sinclair/typebox';
import { MODES } from '../mode.ts';
import { oneOf } from '../schema.ts';

/** Not exported, so that an object of the same shape is no definition. */
const DEFINED = Symbol('defineJob');

export interface JobDefinition<S extends TObject = TObject> {
  readonly kind: string;
  readonly input: S;
  readonly [DEFINED]: true;
}

export type JobInput<D extends JobDefinition> = Static<D['input']>;

/** The definition of a kind of job; one for each kind. */
export const defineJob = <S extends TObject>(kind: string, input: S): JobDefinition<S> => ({
  kind,
  input,
  [DEFINED]: true,
});

/** Fields of an input: the platform that the job works for. */
export const PlatformFields = {
  platformId: Type.String(),
  environment: oneOf(MODES),
};
