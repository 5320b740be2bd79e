// An operation by its summary, with its ID as secondary text.
import { OPERATIONS, type OperationId } from '../generated/operations.ts';

/** Summary of an operation, such as `Settle a payout`, or undefined outside the operator API. */
const operationLabel = (id: string): string | undefined =>
  Object.hasOwn(OPERATIONS, id) ? OPERATIONS[id as OperationId].summary : undefined;

/** The summary, or the ID of an operation of the platform API or of the command. */
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
