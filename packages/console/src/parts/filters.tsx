// Filters of a list, kept in the URL so that a view can be shared and saved.
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type FormEvent, useId } from 'react';
import { CHOICES } from '../generated/choices.ts';
import { OPERATIONS, type OperationId } from '../generated/operations.ts';
import { fieldLabel } from '../texts/fields.ts';
import { TEXTS } from '../texts/texts.ts';
import { statusText } from './status.tsx';

export interface Filter {
  /** Query parameter. */
  name: string;
  label?: string;
  /**
   * Selectable values. Default: the values of the operation. A filter without values is a text or
   * date field.
   */
  values?: readonly string[];
  /** Text of the choice without a value. Default: all. */
  unsetText?: string;
  /** Text of a value. Default: the value in words, such as `Under review`. */
  textOf?: (value: string) => string;
  kind?: 'day' | 'operation';
}

const toDay = (time: string | undefined) => (time ? time.slice(0, 10) : '');

const OPERATION_LIST = 'operations';

/** The recorded operations by their labels, for an input with suggestions. */
const OperationList = () => (
  <datalist id={OPERATION_LIST}>
    {Object.entries(OPERATIONS)
      .filter(([, { method, reveals }]) => method !== 'GET' || reveals)
      .map(([id, { summary }]) => (
        <option key={id} value={id}>
          {summary}
        </option>
      ))}
  </datalist>
);

interface InputProps {
  filter: Filter;
  id: OperationId;
  value: string | undefined;
  set(value: string | undefined): void;
}

function Input({ filter, id, value, set }: InputProps) {
  const { name, label, values, unsetText = TEXTS.list.all, textOf = statusText, kind } = filter;
  const inputId = useId();
  const choices = values ?? CHOICES[id]?.[name];
  const text = label ?? fieldLabel(name);
  const control = choices ? (
    <select id={inputId} value={value ?? ''} onChange={({ target }) => set(target.value)}>
      <option value="">{unsetText}</option>
      {choices.map((each) => (
        <option key={each} value={each}>
          {textOf(each)}
        </option>
      ))}
    </select>
  ) : kind === 'day' ? (
    <input
      id={inputId}
      type="date"
      value={toDay(value)}
      onChange={({ target }) => set(target.value && `${target.value}T00:00:00Z`)}
    />
  ) : (
    <input
      id={inputId}
      key={value}
      {...(kind === 'operation' && { list: OPERATION_LIST, placeholder: TEXTS.list.operation })}
      defaultValue={value ?? ''}
      onBlur={({ target }) => set(target.value.trim())}
      onKeyDown={({ key, currentTarget }) => key === 'Enter' && set(currentTarget.value.trim())}
    />
  );
  return (
    <div className={`filter ${value ? 'set' : ''}`}>
      <label htmlFor={inputId}>{text}</label>
      {control}
    </div>
  );
}

export function Filters({ filters, id }: { filters: readonly Filter[]; id: OperationId }) {
  const search = useSearch({ strict: false }) as Readonly<Record<string, string>>;
  const navigate = useNavigate();
  const change = (nextSearch: Record<string, string | undefined>) =>
    void navigate({
      to: '.',
      search: Object.fromEntries(Object.entries(nextSearch).filter(([, value]) => value)) as never,
      replace: true,
    });
  const isSet = filters.some(({ name }) => search[name]);
  return (
    <form className="filters" onSubmit={(event: FormEvent) => event.preventDefault()}>
      {filters.map((filter) => (
        <Input
          key={filter.name}
          {...{ filter, id, value: search[filter.name] }}
          set={(value) => {
            if ((value || undefined) !== search[filter.name])
              change({ ...search, [filter.name]: value });
          }}
        />
      ))}
      {filters.some(({ kind }) => kind === 'operation') && <OperationList />}
      {isSet && (
        <button type="button" className="button quiet" onClick={() => change({})}>
          {TEXTS.list.clear}
        </button>
      )}
    </form>
  );
}
