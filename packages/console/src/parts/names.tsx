// Customer names next to their IDs: hidden until requested, because the server records each request.
import { useMutation } from '@tanstack/react-query';
import { createContext, use, useState } from 'react';
import { call } from '../api/client.ts';
import { usePermits } from '../api/session.tsx';
import { TEXTS } from '../texts/texts.ts';

type Names = ReadonlyMap<string, string>;

const NONE: Names = new Map();

/** Customer names by ID, as requested for a list. */
export const NamesContext = createContext<Names>(NONE);

export const useName = (id: string): string | undefined => use(NamesContext).get(id);

/** Maximum number of customers per request. */
const MAX_CUSTOMERS = 100;

/** IDs of the customers of rows. */
export const customersIn = (rows: readonly unknown[]): string[] => {
  const ids = rows.flatMap((row) => {
    const { customerId, id } = (row ?? {}) as { customerId?: unknown; id?: unknown };
    return [customerId, id].filter(
      (each): each is string => typeof each === 'string' && each.startsWith('Customer:'),
    );
  });
  return [...new Set(ids)];
};

/** Names that a screen has requested. `request` requests up to `MAX_CUSTOMERS` missing names. */
export function useNames() {
  const [names, setNames] = useState(NONE);
  const { mutate, isPending, isError } = useMutation({
    mutationFn: (customerIds: readonly string[]) =>
      call('revealCustomerNames', { query: { customerIds } }),
    onSuccess: ({ data }) =>
      setNames((previousNames) => new Map([...previousNames, ...data.map(pairOf)])),
  });
  const request = (ids: readonly string[]) =>
    mutate(ids.filter((id) => !names.has(id)).slice(0, MAX_CUSTOMERS));
  return { names, request, isPending, isError };
}

const pairOf = ({ customerId, name }: { customerId: string; name: string | null }) =>
  [customerId, name ?? TEXTS.names.none] as const;

interface NamesButtonProps extends ReturnType<typeof useNames> {
  /** IDs of the displayed customers. */
  ids: readonly string[];
}

export function NamesButton({ ids, names, request, isPending, isError }: NamesButtonProps) {
  const permits = usePermits();
  const hasMissingNames = ids.some((id) => !names.has(id));
  if (!hasMissingNames || !permits('revealCustomerNames')) return null;
  return (
    <button
      type="button"
      className="button"
      title={TEXTS.reveal.recorded}
      disabled={isPending}
      onClick={() => request(ids)}
    >
      {isError ? TEXTS.names.failed : TEXTS.names.show}
    </button>
  );
}
