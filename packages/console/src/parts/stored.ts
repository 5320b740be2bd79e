// Settings in the storage of the browser: columns, saved views, the platform.

const PREFIX = 'railhead-console ';

export function readStored<T>(name: string, defaultValue: T): T {
  try {
    const text = localStorage.getItem(PREFIX + name);
    return text === null ? defaultValue : (JSON.parse(text) as T);
  } catch {
    return defaultValue;
  }
}

export function store(name: string, value: unknown): void {
  try {
    localStorage.setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    // Without storage the settings apply until the page is reloaded.
  }
}
