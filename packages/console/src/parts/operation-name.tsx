// An operation by what it does, with its ID as secondary text.
import { OPERATIONS, type OperationId } from '../generated/operations.ts';

/** What an operation does, such as `Settle a payout`; undefined if it is not one of the operator API. */
const operationLabel = (id: string): string | undefined =>
  Object.hasOwn(OPERATIONS, id) ? OPERATIONS[id as OperationId].summary : undefined;

/** The label, or the ID of an operation of platforms or of a verb of the command. */
export const operationText = (id: string): string => operationLabel(id) ?? id;

export function OperationName({ id }: { id: string }) {
  const label = operationLabel(id);
  if (!label) return <span className="code">{id}</span>;
  return (
    <span className="operation">
      {label} <span className="soft code">{id}</span>
    </span>
  );
}
