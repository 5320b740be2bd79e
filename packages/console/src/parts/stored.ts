// Settings in the storage of the browser: columns, saved views, the platform.

const PREFIX = 'railhead-console ';

export function readStored<T>(name: string, otherwise: T): T {
  try {
    const text = localStorage.getItem(PREFIX + name);
    return text === null ? otherwise : (JSON.parse(text) as T);
  } catch {
    return otherwise;
  }
}

export function store(name: string, value: unknown): void {
  try {
    localStorage.setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    // Without storage only a convenience is lost.
  }
}
