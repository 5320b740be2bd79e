// Columns that many lists have, typed by the operation of the list.
import type { ReactNode } from 'react';
import type { Item } from '../api/client.ts';
import type { OperationId } from '../generated/operations.ts';
import { TEXTS } from '../texts/texts.ts';
import type { Column } from './column.ts';
import { IdText } from './identifier.tsx';
import { Amount, moneyText } from './money.tsx';

/** The column of buttons, which remains visible at the right. */
export const ACTIONS = 'actions';

type Name<Row> = keyof Row & string;

const moneyIn = (row: object, name: string) => {
  const { currency, [name]: amount } = row as Record<string, unknown>;
  return { amount: amount as number, currency: String(currency) };
};

/** Factories for the columns of a list. */
export function columnsOf<Id extends OperationId>() {
  type Row = Item<Id> & object;
  return {
    /** Columns whose format follows from the value of the field. */
    fields: (...names: readonly Name<Row>[]): Column<Row>[] => names.map((name) => ({ name })),
    /** Columns that are hidden by default. */
    hidden: (...names: readonly Name<Row>[]): Column<Row>[] =>
      names.map((name) => ({ name, isHidden: true })),
    /** Numbers, and amounts with their own currency. */
    numbers: (...names: readonly Name<Row>[]): Column<Row>[] =>
      names.map((name) => ({ name, isNumber: true })),
    /** Amounts in the currency of their row. */
    amounts: (...names: readonly Name<Row>[]): Column<Row>[] =>
      names.map((name) => ({
        name,
        isNumber: true,
        cell: (row) => <Amount value={moneyIn(row, name)} />,
        text: (row) => moneyText(moneyIn(row, name)),
      })),
    /** A column with custom content. */
    column: (
      name: Name<Row>,
      cell: (row: Row) => ReactNode,
      text?: (row: Row) => string,
    ): Column<Row> => ({
      name,
      cell,
      ...(text && { text }),
    }),
    /** The ID by which a row is found, as the text of its link. */
    key: (name: Name<Row>): Column<Row> => ({
      name,
      cell: (row) => <IdText id={String(row[name])} />,
      text: (row) => String(row[name]),
    }),
    /** Buttons of a row. */
    actions: (cell: (row: Row) => ReactNode): Column<Row> => ({
      name: ACTIONS,
      label: TEXTS.actions,
      cell,
      text: () => '',
    }),
  };
}

/** The path of a screen with the ID of a row. */
export const pathIn =
  (screen: string, name: string) =>
  (row: object): string =>
    `${screen}/${encodeURIComponent(String((row as Record<string, unknown>)[name]))}`;
