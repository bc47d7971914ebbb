/** What a program of the benchmark is told by its environment. */
export function setting(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set`);
  return value;
}

/** Tells the benchmark that the program takes work, and where it listens. */
export function ready(url = ''): void {
  console.log(JSON.stringify({ msg: 'ready', url }));
}
