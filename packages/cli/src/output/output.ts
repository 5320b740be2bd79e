// Writes results to standard output, as JSON or for people. All other output is written to standard error.
import process from 'node:process';
import { usageError } from '../exit.ts';
import { detailLines } from './details.ts';
import { hasColors, type Styles, stylesOf } from './style.ts';
import { type Column, columnsOf, layOut } from './table.ts';

export interface OutputOptions {
  readonly json?: boolean | undefined;
  readonly query?: string | undefined;
}

const DEFAULT_WIDTH = 80;

function terminalWidth(): number | undefined {
  const configuredWidth = Number(process.env.COLUMNS);
  if (Number.isInteger(configuredWidth) && configuredWidth > 0) return configuredWidth;
  return process.stdout.isTTY ? process.stdout.columns || DEFAULT_WIDTH : undefined;
}

function queryError(error: unknown): Error {
  const hint = "Expressions are JMESPath, such as --query 'data[].id'. See https://jmespath.org.";
  return usageError(`--query is not a valid expression: ${(error as Error).message}`, hint);
}

/** Applies a JMESPath expression. */
async function select(value: unknown, expression: string): Promise<unknown> {
  const { search } = await import('@jmespath-community/jmespath');
  try {
    return search(value as Parameters<typeof search>[0], expression);
  } catch (error) {
    throw queryError(error);
  }
}

const textOf = (value: unknown): string =>
  typeof value === 'object' && value !== null
    ? JSON.stringify(value, null, 2)
    : String(value ?? 'null');

export class Output {
  readonly isJson: boolean;
  readonly #query: string | undefined;
  readonly styles: Styles;
  /** Styles of standard error. */
  readonly noteStyles: Styles;

  constructor({ json, query }: OutputOptions = {}) {
    this.isJson = json === true || query !== undefined;
    this.#query = query;
    this.styles = stylesOf(hasColors(process.stdout));
    this.noteStyles = stylesOf(hasColors(process.stderr));
  }

  /** Throws for a query with a syntax error, so that no request is sent. */
  async checkQuery(): Promise<void> {
    if (this.#query === undefined) return;
    const { compile } = await import('@jmespath-community/jmespath');
    try {
      compile(this.#query);
    } catch (error) {
      throw queryError(error);
    }
  }

  line(text = ''): void {
    process.stdout.write(`${text}\n`);
  }

  /** Writes a line to standard error. */
  note(text: string): void {
    process.stderr.write(`${text}\n`);
  }

  /** Writes a result as JSON if requested, or as `lines`. */
  async result(value: unknown, lines: () => readonly string[]): Promise<void> {
    if (this.#query !== undefined) this.line(textOf(await select(value, this.#query)));
    else if (this.isJson) this.line(JSON.stringify(value ?? null, null, 2));
    else for (const each of lines()) this.line(each);
  }

  /** Writes one result of a stream. */
  async streamed(value: unknown, text: () => string): Promise<void> {
    if (this.#query !== undefined) this.line(textOf(await select(value, this.#query)));
    else this.line(this.isJson ? JSON.stringify(value) : text());
  }

  /** Writes a resource, with the name and value of each field. */
  resource(value: unknown): Promise<void> {
    return this.result(value, () => detailLines(value, this.styles));
  }

  details(value: unknown): readonly string[] {
    return detailLines(value, this.styles);
  }

  table(columns: readonly Column[]): string[] {
    return layOut(columns, terminalWidth(), this.styles);
  }

  /** Lines of a list of resources. */
  list(items: readonly unknown[], emptyText = 'None.'): string[] {
    return items.length === 0 ? [emptyText] : this.table(columnsOf(items));
  }
}
